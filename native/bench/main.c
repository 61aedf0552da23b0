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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_bench.h"
#include "codec.h"
#include "control.h"
#include "crc32c.h"

enum { ALIGN = 64 };

static const char usage[] =
    "usage: call_bench QUESTION SECONDS [HOST:PORT]\n"
    "       call_bench --serve HOST:PORT\n"
    "  QUESTION     'TRANSPORT WAY OPERATION CLIENTS OUTSTANDING SIZE', one argument\n"
    "  TRANSPORT    shm or verbs\n"
    "  WAY          immediate, send or polled\n"
    "  OPERATION    call, or write-WHO or read-WHO; WHO moves the data: client, server or message\n"
    "  OUTSTANDING  calls under way at most, one a client\n"
    "  SIZE         bytes of a transfer, or of a call's request and of its reply\n"
    "  HOST:PORT    of a call_bench that serves; without it the server is a process of its own.\n"
    "               Between hosts the processor time is all that they do.\n";

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
	uint32_t request = request_length(bench);
	uint32_t reply = reply_length(bench);
	uint32_t data = bench->operation == CALL ? 0 : bench->size;
	bench->slot_size = (uint32_t)aligned(CODEC_OVERHEAD + (request > reply ? request : reply));
	bench->reply = bench->slot_size;
	bench->data = 2 * (uint64_t)bench->slot_size;
	bench->checksums = bench->data + aligned(data);
	bench->stride = bench->checksums + aligned(sizeof(uint32_t) * (data / GRANULE + 1));
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
		link_verbs_create(bench->sides, is_one_processor(), &messages);
	else
		link_shm_create(bench->sides, is_one_processor());
}

/* Makes all that both processes need, of a QUESTION. */
static struct bench *create(const char *question, bool is_remote)
{
	static const char *const transports[] = {"shm", "verbs"};
	static const char *const ways[] = {"immediate", "send", "polled"};
	static const char *const operations[] = {"call",	  "write-client", "write-server",
						 "write-message", "read-client",  "read-server",
						 "read-message"};
	char transport[16] = "";
	char way[16] = "";
	char operation[16] = "";
	struct bench *bench = shared_memory(sizeof(*bench));
	if (sscanf(question, "%15s %15s %15s %u %u %u", transport, way, operation, &bench->clients,
		   &bench->outstanding, &bench->size) != 6) {
		fputs(usage, stderr);
		exit(2);
	}
	bool verbs = choice(transport, transports, 2) == 1;
	bench->way = (enum way)choice(way, ways, 3);
	bench->operation = (enum operation)choice(operation, operations, 7);
	require(bench->clients > 0 && bench->outstanding > 0, "one client and one call at least");
	require(bench->way != POLLED || bench->operation == CALL,
		"no transfers with polled: a look would find the request again meanwhile");
	require(verbs || bench->way != SEND, "sends need a device: verbs");
	require(!is_remote || (verbs && bench->way != POLLED), "between hosts: verbs, not polled");
	if (bench->outstanding > bench->clients)
		bench->outstanding = bench->clients;
	bench->is_remote = is_remote;
	bench->takes_turns = !is_remote && is_one_processor();
	lay_out(bench);
	create_sides(bench, verbs);
	return bench;
}

/* Connects this process' side; returns when both are connected. */
static void connect_side(struct bench *bench, int side, int control)
{
	uint8_t connected = 0;
	bench->sides[side].ops->connect(&bench->sides[side], control);
	swap(control, &connected, &connected, sizeof(connected));
	begin_turn();
}

static void be_server(struct bench *bench, int control)
{
	connect_side(bench, SERVER, control);
	control_serve(bench, control);
	serve(bench);
}

static void be_client(struct bench *bench, int control, double seconds)
{
	connect_side(bench, CLIENT, control);
	call(bench, control, seconds);
	(void)close(control); /* ends the server */
}

static int run_both(const char *question, double seconds)
{
	int sockets[2];
	int status = 0;
	struct bench *bench = create(question, false);
	control_pair(sockets);
	pid_t server = fork();
	require(server >= 0, "starting the server");
	(void)close(sockets[server == 0 ? CLIENT : SERVER]);
	if (server == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_server(bench, sockets[SERVER]);
		return 0;
	}
	be_client(bench, sockets[CLIENT], seconds);
	require(waitpid(server, &status, 0) == server && status == 0, "the server");
	return 0;
}

/* Serves one client after the other, each by a process of its own. */
static void serve_all(const char *address)
{
	int listener = control_listen(address);
	for (;;) {
		int control = control_accept(listener);
		pid_t server = fork();
		require(server >= 0, "starting the server");
		if (server == 0) {
			char question[CONTROL_TEXT_MAX];
			control_hear(control, question);
			be_server(create(question, true), control);
			exit(0);
		}
		(void)close(control);
		(void)waitpid(server, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	crc32c_prepare();
	if (argc == 3 && strcmp(argv[1], "--serve") == 0)
		serve_all(argv[2]);
	if (argc == 3)
		return run_both(argv[1], strtod(argv[2], NULL));
	if (argc == 4) {
		struct bench *bench = create(argv[1], true);
		int control = control_connect(argv[3]);
		control_tell(control, argv[1]);
		be_client(bench, control, strtod(argv[2], NULL));
		return 0;
	}
	fputs(usage, stderr);
	return 2;
}
