/*
 * Calls between two processes, to compare ways of calling. Prints one line: calls, nanoseconds,
 * and nanoseconds of processor time of the client and of the server.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call_bench.h"
#include "codec.h"
#include "crc32c.h"

enum { ALIGN = 64 };

/* Nobody waits for longer than this at once. */
#define AWAIT_NS INT64_C(100000000)
#define TURN_MAX_S 10

static const char usage[] =
    "usage: call_bench shm|verbs immediate|send|polled OPERATION CLIENTS OUTSTANDING SIZE SECONDS\n"
    "  OPERATION    call, write-active, write-copied, read-active or read-copied\n"
    "  OUTSTANDING  calls under way at most, one a client\n"
    "  SIZE         bytes of a transfer; of a call, of its slots, which are larger than it needs\n";

void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "call_bench: failed: %s\n", what);
	exit(1);
}

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	require(memory != MAP_FAILED, "allocating memory");
	return memory;
}

int64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	require(clock_gettime(clock, &time) == 0, "reading a clock");
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void post_message(struct bench *bench, int side, uint32_t connection, uint64_t part,
		  uint32_t length)
{
	struct link *link = &bench->sides[side];
	uint64_t at = connection * bench->stride + part;
	const struct link_operation operation = {
	    .opcode = bench->way == POLLED ? LINK_WRITE : LINK_WRITE_WITH_IMMEDIATE,
	    .length = length,
	    .local = at,
	    .remote = at};
	link->ops->post(link, connection, &operation, 1);
}

/* What this process, which is one side, had used when its turn began. */
static int64_t turn_began;

static void begin_turn(void)
{
	turn_began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void wake(struct bench *bench, int side)
{
	__atomic_add_fetch(&bench->turns[side], 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &bench->turns[side], FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * Who polls memory cannot sleep. So that all ways wait alike, on one processor each side hands it
 * to the other when it has done all there was, and nobody looks in vain. What handing over costs
 * does not count, because a server that is busy does not wait.
 */
static void hand_over(struct bench *bench, int side)
{
	static uint32_t seen;
	const struct timespec timeout = {.tv_sec = TURN_MAX_S};
	bench->busy_ns[side] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - turn_began;
	wake(bench, 1 - side);
	(void)syscall(SYS_futex, &bench->turns[side], FUTEX_WAIT, seen, &timeout, NULL, 0);
	seen = __atomic_load_n(&bench->turns[side], __ATOMIC_SEQ_CST);
	begin_turn();
}

void idle(struct bench *bench, int side)
{
	struct link *link = &bench->sides[side];
	if (bench->one_processor)
		hand_over(bench, side);
	else if (bench->way != POLLED)
		link->ops->await(link, AWAIT_NS);
}

static bool is_one_processor(void)
{
	cpu_set_t set;
	require(sched_getaffinity(0, sizeof(set), &set) == 0, "asking for processors");
	return CPU_COUNT(&set) == 1;
}

static uint64_t aligned(uint64_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static void lay_out(struct bench *bench)
{
	uint32_t content = bench->operation == WRITE_COPIED || bench->operation == READ_COPIED
			       ? bench->size
			       : SMALL;
	bench->slot_size = (uint32_t)aligned(CODEC_OVERHEAD + content);
	if (bench->operation == CALL && bench->slot_size < bench->size)
		bench->slot_size = (uint32_t)aligned(bench->size);
	bench->reply = bench->slot_size;
	bench->data = 2 * (uint64_t)bench->slot_size;
	bench->checksums = bench->data + aligned(bench->operation == CALL ? 0 : bench->size);
	bench->stride = bench->checksums + aligned(sizeof(uint32_t) * (bench->size / GRANULE + 1));
}

static int choice(const char *text, const char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	fprintf(stderr, "call_bench: unknown: %s\n%s", text, usage);
	exit(2);
}

static void create_sides(struct bench *bench, bool verbs)
{
	for (int i = 0; i < 2; i++) {
		struct link *link = &bench->sides[i];
		link->connections = bench->clients;
		link->memory_size = bench->clients * bench->stride;
		link->memory = shared_memory(link->memory_size);
		memset(link->memory, 0, link->memory_size); /* every page is there */
		link->peer = &bench->sides[1 - i];
	}
	const struct link_messages messages = {.sent = bench->way == SEND,
					       .size = bench->slot_size,
					       .stride = bench->stride,
					       .incoming = {0, bench->reply}};
	if (verbs)
		link_verbs_create(bench->sides, bench->one_processor, &messages);
	else
		link_shm_create(bench->sides, bench->one_processor);
}

/* Waits until both processes have come this far. */
static void meet(struct bench *bench, uint32_t step)
{
	__atomic_add_fetch(&bench->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&bench->ready, __ATOMIC_SEQ_CST) < 2 * step)
		(void)usleep(1000);
}

static void open_side(struct bench *bench, int side)
{
	struct link *link = &bench->sides[side];
	link->ops->open(link);
	meet(bench, 1);
	link->ops->connect(link);
	meet(bench, 2);
	begin_turn();
}

int main(int argc, char **argv)
{
	static const char *const transports[] = {"shm", "verbs"};
	static const char *const ways[] = {"immediate", "send", "polled"};
	static const char *const operations[] = {"call", "write-active", "write-copied",
						 "read-active", "read-copied"};
	if (argc != 8) {
		fputs(usage, stderr);
		return 2;
	}
	struct bench *bench = shared_memory(sizeof(*bench));
	bool verbs = choice(argv[1], transports, 2) == 1;
	bench->way = (enum way)choice(argv[2], ways, 3);
	bench->operation = (enum operation)choice(argv[3], operations, 5);
	bench->clients = (uint32_t)strtoul(argv[4], NULL, 10);
	bench->outstanding = (uint32_t)strtoul(argv[5], NULL, 10);
	bench->size = (uint32_t)strtoul(argv[6], NULL, 10);
	bench->seconds = strtod(argv[7], NULL);
	require(bench->clients > 0 && bench->outstanding > 0, "one client and one call at least");
	require(verbs || bench->way != SEND, "sends need a device: verbs");
	if (bench->outstanding > bench->clients)
		bench->outstanding = bench->clients;
	bench->one_processor = is_one_processor();
	crc32c_prepare();
	lay_out(bench);
	create_sides(bench, verbs);

	pid_t server = fork();
	require(server >= 0, "starting the server");
	if (server == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		open_side(bench, SERVER);
		serve(bench);
		return 0;
	}
	open_side(bench, CLIENT);
	call(bench, server);
	__atomic_store_n(&bench->stopped, 1, __ATOMIC_RELEASE);
	wake(bench, SERVER);
	int status = 0;
	require(waitpid(server, &status, 0) == server && status == 0, "the server");
	return 0;
}
