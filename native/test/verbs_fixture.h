/* Queue pairs of the verbs core over the fake device, and operations for them. */
#ifndef TAKO_TEST_VERBS_FIXTURE_H
#define TAKO_TEST_VERBS_FIXTURE_H

#include "fake_device.h"

enum {
	FIXTURE_DEPTH = 32, /* sends and receives of a pair at most */
	FIXTURE_RING = 64,  /* entries of a completion queue's ring */
	FIXTURE_INLINE = 64 /* bytes that go inline */
};

/* A completion queue with the fake one below it. */
struct queue {
	struct fake_cq device;
	struct tako_verbs_cq *cq;
	struct tako_verbs_completion_queue *shared;
	struct tako_verbs_completion ring[FIXTURE_RING];
};

/* A queue pair with the fake one below it. */
struct pair {
	struct fake_qp device;
	struct tako_verbs_qp *qp;
	struct tako_verbs_queue_pair *shared;
	uint32_t slot;
};

void queue_create(struct queue *queue, uint32_t ring_entries, uint32_t spin_ns);
void queue_destroy(struct queue *queue);

/* A pair whose sends and receives complete in `queue`, in `slot` there. */
void pair_make(struct pair *pair, struct queue *queue, uint32_t slot, uint32_t generation);
void pair_free(struct pair *pair);

/* One staged operation of at most one piece. */
struct staged {
	struct tako_work work;
	struct tako_piece piece;
};

struct staged operation(uint8_t opcode, uint64_t id, uint32_t length, uint8_t flags);

/* Posts operations as Java stages them: each with only the pieces it has. */
int post(struct pair *pair, const struct staged *operations, uint32_t count);

/* Posts `count` writes with ids from `id` on, of which only every `signal`-th asks to be reported.
 */
int post_writes(struct pair *pair, uint64_t id, uint32_t count, uint32_t signal);

/* Polls and takes the next completion, which must be there. */
struct tako_verbs_completion next(struct queue *queue);

/* Takes the next completion and checks it. */
void expect(struct queue *queue, uint64_t id, uint8_t status);

/* Checks that there is nothing to poll. */
void expect_nothing(struct queue *queue);

/* Sends outstanding. */
uint64_t outstanding(const struct pair *pair);

#endif
