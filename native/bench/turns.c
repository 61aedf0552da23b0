/* Waiting, and the processor time that was used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "call_bench.h"

/* The longest single wait. */
#define AWAIT_NS INT64_C(100000000)
#define TURN_MAX_S 10
#define SECOND_NS INT64_C(1000000000)

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	require(clock_gettime(clock, &time) == 0, "reading a clock");
	return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time that this process, which is one side, had used when its turn began. */
static int64_t turn_began;

void begin_turn(void)
{
	turn_began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void wake(struct bench *bench, int side)
{
	__atomic_add_fetch(&bench->turns[side], 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &bench->turns[side], FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * A side that polls memory cannot sleep. So that all ways wait alike, on one processor each side
 * hands it to the other when it has done all there was, and nobody looks in vain. The cost of
 * handing over does not count, because a server that is busy does not wait.
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
	if (bench->takes_turns)
		hand_over(bench, side);
	else if (bench->way != POLLED)
		link->ops->await(link, AWAIT_NS);
}

/* Busy time of the host's processors since it was started; to 10 ms. */
static int64_t host_busy_ns(void)
{
	double up = 0;
	double idle_seconds = 0;
	FILE *file = fopen("/proc/uptime", "re");
	require(file != NULL && fscanf(file, "%lf %lf", &up, &idle_seconds) == 2,
		"reading /proc/uptime");
	(void)fclose(file);
	double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
	return (int64_t)((up * processors - idle_seconds) * (double)SECOND_NS);
}

int64_t cpu_ns(const struct bench *bench, int side)
{
	if (bench->is_remote)
		return host_busy_ns();
	if (bench->takes_turns)
		return __atomic_load_n(&bench->busy_ns[side], __ATOMIC_RELAXED);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}
