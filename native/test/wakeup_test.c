/* Sleeping and waking: between threads, between processes, with many peers on one queue. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"

enum { ROUNDS = 5000, PEERS = 100, THREADS = 8, MANY = 64 };

/* Longer than the test may take: a thread that waits so long has lost a wake-up. */
#define TOO_LONG_NS INT64_C(600000000000)

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for the next immediate, and posts the receive again. */
static uint32_t receive_one(struct side *side)
{
	struct tako_shm_completion completion;
	while (tako_cq_poll(side->cq, &completion, 1) == 0)
		(void)tako_cq_await(side->cq, TOO_LONG_NS);
	CHECK(completion.status == TAKO_SHM_SUCCESS);
	CHECK(completion.opcode == TAKO_SHM_OP_RECEIVE_IMMEDIATE);
	CHECK(tako_qp_post_receive(side->qp, 0) == 0);
	return completion.immediate;
}

static void send_one(struct side *side, uint32_t immediate)
{
	struct operation send = write_with_immediate(0, 64, immediate);
	CHECK(side_post(side, &send, 1) == TAKO_POST_DONE);
}

static void *echo(void *argument)
{
	struct side *side = argument;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		CHECK(receive_one(side) == i);
		send_one(side, i + 1);
	}
	return NULL;
}

static void play(struct side *side)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		send_one(side, i);
		CHECK(receive_one(side) == i + 1);
	}
}

static void prepare(struct side *a, struct side *b, uint32_t spin_ns)
{
	pair_create(a, b);
	a->cq->spin_ns = spin_ns;
	b->cq->spin_ns = spin_ns;
	CHECK(tako_qp_post_receive(a->qp, 0) == 0);
	CHECK(tako_qp_post_receive(b->qp, 0) == 0);
}

static void should_play_ping_pong_between_threads(uint32_t spin_ns)
{
	struct side a;
	struct side b;
	prepare(&a, &b, spin_ns);
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, echo, &b) == 0);
	play(&a);
	CHECK(pthread_join(thread, NULL) == 0);
}

static void should_play_ping_pong_between_processes(uint32_t spin_ns)
{
	struct side a;
	struct side b;
	prepare(&a, &b, spin_ns);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		(void)echo(&b);
		_exit(0);
	}
	play(&a);
	int status;
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct side peers[PEERS];

/* Sends as much as there are credits for, from every THREADS-th peer. */
static void *send_from_some(void *argument)
{
	for (size_t i = (size_t)(uintptr_t)argument; i < PEERS; i += THREADS) {
		for (uint32_t k = 0; k < PAIR_DEPTH; k++)
			send_one(&peers[i], k);
	}
	return NULL;
}

/* One queue for many peers: every message of each arrives, in its order. */
static void should_serve_many_peers_on_one_queue(void)
{
	struct side local;
	uint32_t next[PEERS] = {0};
	side_create_queue(&local, 0);
	for (uint32_t i = 0; i < PEERS; i++) {
		side_create_queue(&peers[i], 0);
		side_create_pair(&peers[i], 0);
		side_create_pair(&local, 40 * i);
		sides_connect(&peers[i], &local);
		side_import(&peers[i], &local);
		for (uint32_t k = 0; k < PAIR_DEPTH; k++)
			CHECK(tako_qp_post_receive(local.qp, i) == 0);
	}
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, send_from_some, (void *)i) == 0);
	uint32_t left = PEERS * PAIR_DEPTH;
	while (left > 0) {
		struct tako_shm_completion out[MANY];
		int count = tako_cq_poll(local.cq, out, MANY);
		if (count == 0)
			(void)tako_cq_await(local.cq, TOO_LONG_NS);
		for (int i = 0; i < count; i++) {
			uint64_t peer = out[i].id;
			CHECK(out[i].slot == 40 * peer);
			CHECK(out[i].immediate == next[peer]);
			next[peer]++;
			left--;
		}
	}
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void *wake_later(void *argument)
{
	struct tako_shm_completion_queue *cq = argument;
	(void)tako_cq_wake(cq);
	return NULL;
}

static void should_be_woken_and_time_out(void)
{
	struct side side;
	side_create_queue(&side, 1000);
	for (int i = 0; i < 200; i++) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, wake_later, side.cq) == 0);
		CHECK(tako_cq_await(side.cq, TOO_LONG_NS) == 1);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	int64_t start = now_ns();
	CHECK(tako_cq_await(side.cq, 3000000) == 0);
	CHECK(now_ns() - start >= 3000000);
}

int main(void)
{
	should_play_ping_pong_between_threads(20000);
	should_play_ping_pong_between_threads(0);
	should_play_ping_pong_between_processes(20000);
	should_play_ping_pong_between_processes(0);
	should_serve_many_peers_on_one_queue();
	should_be_woken_and_time_out();
	return 0;
}
