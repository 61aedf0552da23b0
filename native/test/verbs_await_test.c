/* Waiting: timeouts, wake-ups, events of the device, and none of them lost between threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "check.h"
#include "verbs_fixture.h"

enum { ROUNDS = 20000, SPIN_NS = 20000 };

#define HOUR_NS INT64_C(3600000000000)

static struct queue queue;
static struct pair pair;

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin(uint32_t spin_ns)
{
	queue_create(&queue, FIXTURE_RING, spin_ns);
	pair_make(&pair, &queue, 0, 1);
}

static void end(void)
{
	pair_free(&pair);
	queue_destroy(&queue);
}

static void should_return_after_the_timeout(void)
{
	begin(SPIN_NS);
	int64_t start = now_ns();
	CHECK(tako_verbs_cq_await(queue.cq, 5000000) == 0);
	CHECK(now_ns() - start >= 5000000);
	CHECK(tako_verbs_cq_await(queue.cq, 0) == 0 && tako_verbs_cq_await(queue.cq, -1) == 0);
	end();
}

static void should_end_the_next_await_by_wakeup(void)
{
	begin(0);
	CHECK(tako_verbs_cq_wake(queue.cq) == 0);
	CHECK(tako_verbs_cq_await(queue.cq, INT64_MAX) == 1);
	CHECK(tako_verbs_cq_await(queue.cq, 1000000) == 0);
	end();
}

static void should_find_what_came_before_the_queue_was_armed(void)
{
	begin(0);
	CHECK(post_writes(&pair, 1, 1, 1) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 1);
	CHECK(tako_verbs_cq_await(queue.cq, HOUR_NS) == 0);
	expect(&queue, 1, TAKO_VERBS_SUCCESS);
	end();
}

/* A thread that gets no processor for the whole timeout arms nothing. */
static void await_until_armed(void)
{
	const int64_t deadline = now_ns() + HOUR_NS / 60;
	do {
		CHECK(tako_verbs_cq_await(queue.cq, 2000000) == 0);
		CHECK(now_ns() < deadline);
	} while (!queue.device.armed);
}

static void should_take_an_event_that_nobody_waited_for(void)
{
	begin(0);
	await_until_armed();
	CHECK(post_writes(&pair, 1, 1, 1) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 1);
	CHECK(!queue.device.armed);
	expect(&queue, 1, TAKO_VERBS_SUCCESS);
	await_until_armed();
	CHECK(queue.device.acknowledged == 1);
	end();
}

static uint32_t answered;

/* Wakes once for every await that ended, never twice for the same. */
static void *wake_in_turn(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) != i)
			(void)sched_yield();
		CHECK(tako_verbs_cq_wake(queue.cq) == 0);
	}
	return NULL;
}

/* A wake-up that was lost would leave the await for an hour. */
static void should_lose_no_wakeup(uint32_t spin_ns)
{
	pthread_t waker;
	begin(spin_ns);
	answered = 0;
	CHECK(pthread_create(&waker, NULL, wake_in_turn, NULL) == 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		while (tako_verbs_cq_await(queue.cq, HOUR_NS) == 0)
			continue;
		__atomic_store_n(&answered, i + 1, __ATOMIC_RELEASE);
	}
	CHECK(pthread_join(waker, NULL) == 0);
	CHECK(spin_ns != 0 || queue.shared->sleeps != 0);
	end();
}

static void *fail_it(void *unused)
{
	(void)unused;
	const struct timespec moment = {.tv_nsec = 2000000};
	(void)nanosleep(&moment, NULL);
	CHECK(tako_verbs_qp_end(pair.qp) == 0);
	return NULL;
}

/* A failure found by another thread wakes the one that waits for the completions. */
static void should_wake_for_a_pair_that_fails(void)
{
	pthread_t failer;
	begin(0);
	CHECK(post_writes(&pair, 1, 1, 1) == TAKO_VERBS_POSTED);
	pair.device.send_count =
	    0; /* a device that loses it: only the end of the pair completes it */
	CHECK(pthread_create(&failer, NULL, fail_it, NULL) == 0);
	while (tako_verbs_cq_poll(queue.cq) == 0)
		(void)tako_verbs_cq_await(queue.cq, HOUR_NS);
	expect(&queue, 1, TAKO_VERBS_FLUSHED);
	CHECK(pthread_join(failer, NULL) == 0);
	end();
}

int main(void)
{
	should_return_after_the_timeout();
	should_end_the_next_await_by_wakeup();
	should_find_what_came_before_the_queue_was_armed();
	should_take_an_event_that_nobody_waited_for();
	should_lose_no_wakeup(0);
	should_lose_no_wakeup(SPIN_NS);
	should_wake_for_a_pair_that_fails();
	return 0;
}
