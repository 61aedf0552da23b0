/*
 * A peer that writes anything anywhere it can, all the time. Invariants: nothing outside is
 * touched (the sanitizers watch), every call returns, no more receives complete than were posted,
 * and each completion names a receive that was posted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "pair.h"

enum { POLLS = 100000, MANY = 16 };

static struct side good;
static struct side bad;
static volatile int stop;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void scribble(volatile uint64_t *words, size_t count, uint64_t *state)
{
	uint64_t word = next_random(state);
	/* Small numbers too: they are the ones that look like sequences and keys. */
	words[next_random(state) % count] = (word & 1) != 0 ? word : word >> 56;
}

/* A peer that revokes is believed, and so most of the time it must not, or little else is tried. */
static void scribble_revoked(uint64_t *state)
{
	uint32_t revoked = next_random(state) % 256 == 0 ? (uint32_t)next_random(state) : 0;
	__atomic_store_n(&bad.inbox->revoked, revoked, __ATOMIC_RELAXED);
}

static void *be_hostile(void *argument)
{
	uint64_t state = (uint64_t)(uintptr_t)argument;
	size_t inbox = (sizeof(*good.inbox) + PAIR_DEPTH * sizeof(struct tako_shm_receive)) / 8;
	while (!stop) {
		scribble_revoked(&state);
		scribble((volatile uint64_t *)(void *)good.inbox, inbox, &state);
		scribble((volatile uint64_t *)(void *)good.doorbell, sizeof(*good.doorbell) / 8,
			 &state);
		scribble((volatile uint64_t *)(void *)bad.exports,
			 8 * sizeof(*bad.exports) / sizeof(uint64_t), &state);
		scribble((volatile uint64_t *)(void *)bad.inbox,
			 offsetof(struct tako_shm_inbox, revoked) / 8, &state);
		scribble((volatile uint64_t *)(void *)(bad.inbox + 1),
			 PAIR_DEPTH * sizeof(struct tako_shm_receive) / 8, &state);
		scribble((volatile uint64_t *)(void *)bad.doorbell, sizeof(*bad.doorbell) / 8,
			 &state);
	}
	return NULL;
}

static void run(uint64_t seed)
{
	pair_create(&good, &bad);
	good.cq->spin_ns = 100;
	stop = 0;
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, be_hostile, (void *)(uintptr_t)seed) == 0);

	uint64_t posted = 0;
	uint64_t done = 0;
	uint64_t sends = 0;
	for (int i = 0; i < POLLS; i++) {
		if (posted - done < PAIR_DEPTH && tako_qp_post_receive(good.qp, posted) == 0)
			posted++;
		struct operation operation = write_with_immediate(0, 32, 1);
		operation.opcode = (uint8_t)((unsigned)i % 5);
		operation.length = operation.opcode >= TAKO_SHM_OP_COMPARE_AND_SWAP ? 8 : 32;
		if (good.qp->sent_tail - good.qp->sent_head < PAIR_DEPTH) {
			(void)side_post(&good, &operation, 1);
			sends++;
		}
		if (i % 64 == 0)
			(void)tako_cq_await(good.cq, 2000);
		struct tako_shm_completion out[MANY];
		int count = tako_cq_poll(good.cq, out, MANY);
		CHECK(count >= 0 && count <= MANY);
		for (int k = 0; k < count; k++) {
			CHECK(out[k].slot == 5);
			if (out[k].opcode == TAKO_SHM_OP_RECEIVE_IMMEDIATE) {
				CHECK(out[k].id == done);
				CHECK(done < posted);
				done++;
			}
		}
		/* It was ended, for one of its many faults: begin with a new connection. */
		if (i % 1024 == 1023 && good.qp->state != TAKO_SHM_CONNECTED) {
			CHECK(tako_qp_fail(good.qp, TAKO_SHM_CLOSED) == 1);
			good.qp->state = TAKO_SHM_CONNECTED;
			CHECK(tako_cq_attach(good.cq, 5, good.qp) == 0);
		}
	}
	stop = 1;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(sends > 0);
}

/* Bits of slots where no pair is, and garbage in a slot's word, lead nowhere. */
static void should_ignore_ready_bits_of_nobody(void)
{
	pair_create(&good, &bad);
	struct tako_shm_completion out[MANY];
	memset(good.doorbell, 0xff, sizeof(*good.doorbell));
	CHECK(tako_cq_poll(good.cq, out, MANY) == 0);
	CHECK(tako_cq_poll(good.cq, out, MANY) == 0);
	(void)tako_cq_await(good.cq, 1000000);
}

/* Ready bits that a peer erased cost time, not the message. */
static void should_find_messages_whose_bits_were_erased(void)
{
	pair_create(&good, &bad);
	struct tako_shm_completion out[MANY];
	CHECK(tako_cq_poll(good.cq, out, MANY) == 0); /* the first poll looks everywhere */
	CHECK(tako_qp_post_receive(good.qp, 3) == 0);
	struct operation send = write_with_immediate(0, 8, 9);
	CHECK(side_post(&bad, &send, 1) == TAKO_POST_DONE);
	memset(good.doorbell, 0, sizeof(*good.doorbell));
	CHECK(tako_cq_poll(good.cq, out, MANY) == 0);
	good.cq->spin_ns = 0;
	(void)tako_cq_await(good.cq, INT64_C(10000000000));
	CHECK(tako_cq_poll(good.cq, out, MANY) == 1 && out[0].immediate == 9);
}

int main(void)
{
	should_ignore_ready_bits_of_nobody();
	should_find_messages_whose_bits_were_erased();
	for (uint64_t seed = 1; seed <= 3; seed++)
		run(seed * UINT64_C(0x9e3779b97f4a7c15));
	return 0;
}
