/* Two connected queue pairs over memory that a forked child shares. */
#ifndef TAKO_TEST_PAIR_H
#define TAKO_TEST_PAIR_H

#include "tako/core.h"

enum {
	PAIR_DEPTH = 8,		 /* sends and receives outstanding at most */
	PAIR_REGION = 64 * 1024, /* bytes of each side's one region */
	PAIR_KEY = 0x00abc003,	 /* its key */
};

#define PAIR_ADDRESS UINT64_C(0x700000000) /* what peers call its first byte */

/* One side: a process's objects of one connection and its completion queue. */
struct side {
	struct tako_shm_completion_queue *cq;
	struct tako_shm_queue_pair *qp;
	struct tako_shm_doorbell *doorbell;
	struct tako_shm_inbox *inbox;
	struct tako_shm_export *exports;
	struct tako_shm_import *imports;
	uint8_t *region;
};

/* Zeroed memory that stays shared over fork(). */
void *shared_memory(size_t size);

/* A completion queue with its doorbell, for pair_attach. */
void side_create_queue(struct side *side, uint32_t spin_ns);

/* Gives `side` a queue pair in `slot` of its completion queue. */
void side_create_pair(struct side *side, uint32_t slot);

/* Connects two sides that have a queue pair each. */
void sides_connect(struct side *a, struct side *b);

/* Both sides of one connection, each with its own queue, spinning and regions mapped. */
void pair_create(struct side *a, struct side *b);

/* Makes the peer's region known, as Java does when a post wants a mapping. */
void side_import(struct side *side, const struct side *peer);

/* One operation on `length` bytes at the start of both regions, posted at once. */
struct operation {
	uint8_t opcode;
	uint8_t flags;
	uint64_t id;
	uint32_t length;
	uint64_t remote_address;
	uint32_t rkey;
	uint32_t immediate;
	uint64_t operand;
	uint64_t desired;
};
int side_post(struct side *side, const struct operation *operations, int count);

/* A write of `length` bytes with an immediate, to the start of the peer's region. */
struct operation write_with_immediate(uint64_t id, uint32_t length, uint32_t immediate);

#endif
