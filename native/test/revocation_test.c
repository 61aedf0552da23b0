/*
 * The target of writes ends its pair and copies the memory: what the writer ever counts is in the
 * copy, wherever the writer was at that moment.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"

enum {
	ROUNDS = 100,
	MANY = 64,
	BLOCK = PAIR_REGION / PAIR_DEPTH, /* bytes of one write */
	WORDS = BLOCK / sizeof(uint64_t),
};

static struct side writer;
static struct side target;
static struct tako_shm_completion out[MANY];

/* What the writer's process says, in memory that both have. */
struct progress {
	uint64_t posted;  /* batches */
	uint64_t counted; /* the last batch of which every write succeeded */
	uint64_t partly;  /* batches of which some writes succeeded and others did not */
};
static struct progress *progress;

static void begin(void)
{
	pair_create(&writer, &target);
	progress = shared_memory(sizeof(*progress));
}

/* One batch: a write of `number`, over and over, to each block of the target. */
static int post_batch(uint64_t number)
{
	uint64_t *words = (uint64_t *)(void *)writer.region;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = number;
	struct operation writes[PAIR_DEPTH];
	for (uint32_t i = 0; i < PAIR_DEPTH; i++) {
		writes[i] = write_with_immediate(number, BLOCK, 0);
		writes[i].opcode = TAKO_SHM_OP_WRITE;
		writes[i].flags = TAKO_SIGNALED;
		writes[i].remote_address = PAIR_ADDRESS + i * BLOCK;
	}
	return side_post(&writer, writes, PAIR_DEPTH);
}

static void count_batch(uint64_t number)
{
	int count = tako_cq_poll(writer.cq, out, MANY);
	CHECK(count == PAIR_DEPTH);
	int successes = 0;
	for (int i = 0; i < count; i++) {
		CHECK(out[i].id == number);
		successes += out[i].status == TAKO_SHM_SUCCESS;
	}
	if (successes == PAIR_DEPTH)
		progress->counted = number;
	else
		progress->partly += successes != 0;
}

static void write_until_revoked(void)
{
	int result = TAKO_POST_DONE;
	for (uint64_t number = 1; result == TAKO_POST_DONE; number++) {
		__atomic_store_n(&progress->posted, number, __ATOMIC_RELAXED);
		result = post_batch(number);
		count_batch(number);
	}
	CHECK(result == TAKO_POST_REVOKED);
	CHECK(writer.qp->state == TAKO_SHM_ERROR);
}

/* Waits for some batches, and then for a while that no batch ends with. */
static void await_writes(int round)
{
	while (__atomic_load_n(&progress->posted, __ATOMIC_RELAXED) < 3)
		(void)sched_yield();
	for (volatile int i = 0; i < round * 37; i++)
		;
}

/* From the end, where the writer comes last. */
static void copy_region(uint64_t *copy)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(void *)target.region;
	for (size_t i = PAIR_REGION / sizeof(*copy); i-- > 0;)
		copy[i] = words[i];
}

static void check_copy(const uint64_t *copy)
{
	CHECK(progress->counted >= 2);
	CHECK(progress->partly == 0);
	for (size_t i = 0; i < PAIR_REGION / sizeof(*copy); i++)
		CHECK(copy[i] >= progress->counted);
}

static uint64_t copy[PAIR_REGION / sizeof(uint64_t)];

static void *write_in_thread(void *argument)
{
	(void)argument;
	write_until_revoked();
	return NULL;
}

static void should_count_nothing_that_a_revoking_thread_does_not_see(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		begin();
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, write_in_thread, NULL) == 0);
		await_writes(round);
		CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 1);
		copy_region(copy);
		CHECK(pthread_join(thread, NULL) == 0);
		check_copy(copy);
	}
}

static void should_count_nothing_of_a_process_that_was_stopped_meanwhile(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		begin();
		pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			write_until_revoked();
			_exit(0);
		}
		await_writes(round);
		int status = 0;
		CHECK(kill(child, SIGSTOP) == 0);
		CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
		CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 1);
		copy_region(copy);
		CHECK(kill(child, SIGCONT) == 0);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		check_copy(copy);
	}
}

/* The first post after the revocation ends the pair; no message has to arrive before. */
static void should_end_with_the_peer(void)
{
	const uint32_t states[] = {TAKO_SHM_ERROR, TAKO_SHM_CLOSED};
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		begin();
		CHECK(post_batch(1) == TAKO_POST_DONE);
		CHECK(tako_qp_fail(target.qp, states[i]) == 1);
		CHECK(writer.qp->state == TAKO_SHM_CONNECTED);
		/* What was counted before stays counted. */
		CHECK(tako_cq_poll(writer.cq, out, MANY) == PAIR_DEPTH);
		CHECK(out[PAIR_DEPTH - 1].status == TAKO_SHM_SUCCESS);

		CHECK(post_batch(2) == TAKO_POST_REVOKED);
		CHECK(writer.qp->state == TAKO_SHM_ERROR);
		CHECK(tako_cq_poll(writer.cq, out, MANY) == PAIR_DEPTH);
		for (int k = 0; k < PAIR_DEPTH; k++)
			CHECK(out[k].id == 2 && out[k].status == TAKO_SHM_FLUSHED);
		CHECK(post_batch(3) == TAKO_POST_DONE);
		CHECK(tako_cq_poll(writer.cq, out, MANY) == PAIR_DEPTH);
		CHECK(out[0].status == TAKO_SHM_FLUSHED);
	}
}

static void should_say_revoked_to_the_peer_of_a_pair_that_failed_before(void)
{
	begin();
	CHECK(tako_qp_fail(target.qp, TAKO_SHM_CLOSED) == 1);
	target.inbox->revoked = 0;
	CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 0);
	CHECK(target.inbox->revoked == 1);
}

static void should_not_count_an_immediate(void)
{
	begin();
	CHECK(tako_qp_post_receive(target.qp, 7) == 0);
	CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 1);
	struct operation send = write_with_immediate(1, 8, 5);
	send.flags = TAKO_SIGNALED;
	CHECK(side_post(&writer, &send, 1) == TAKO_POST_REVOKED);
	CHECK(tako_cq_poll(writer.cq, out, MANY) == 1);
	CHECK(out[0].id == 1 && out[0].status == TAKO_SHM_FLUSHED);
}

/* A success before an operation that fails counts only if the peer had not revoked by then. */
static void should_not_count_what_precedes_a_failure(void)
{
	begin();
	CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 1);
	struct operation writes[2] = {write_with_immediate(1, 8, 0), write_with_immediate(2, 8, 0)};
	writes[0].opcode = TAKO_SHM_OP_WRITE;
	writes[0].flags = TAKO_SIGNALED;
	writes[1].rkey = 0;
	CHECK(side_post(&writer, writes, 2) == TAKO_POST_REVOKED);
	CHECK(tako_cq_poll(writer.cq, out, MANY) == 2);
	CHECK(out[0].status == TAKO_SHM_FLUSHED && out[1].status == TAKO_SHM_FLUSHED);
}

/* The writer's own end takes the peer's memory, and `revoked` with it: zero says nothing then. */
static void should_not_count_when_the_memory_was_taken(void)
{
	begin();
	CHECK(tako_qp_fail(target.qp, TAKO_SHM_ERROR) == 1);
	CHECK(tako_qp_fail(writer.qp, TAKO_SHM_ERROR) == 1);
	CHECK(tako_discard((uint64_t)(uintptr_t)target.inbox, 4096) == 0);
	CHECK(target.inbox->revoked == 0);
	CHECK(post_batch(1) == TAKO_POST_DONE);
	CHECK(tako_cq_poll(writer.cq, out, MANY) == PAIR_DEPTH);
	CHECK(out[0].status == TAKO_SHM_FLUSHED);
}

int main(void)
{
	should_end_with_the_peer();
	should_say_revoked_to_the_peer_of_a_pair_that_failed_before();
	should_not_count_an_immediate();
	should_not_count_what_precedes_a_failure();
	should_not_count_when_the_memory_was_taken();
	should_count_nothing_that_a_revoking_thread_does_not_see();
	should_count_nothing_of_a_process_that_was_stopped_meanwhile();
	return 0;
}
