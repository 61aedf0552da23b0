/*
 * Connections between a server and a client process, over the shm or the verbs core: one completion
 * queue and one memory region a side. The ways of calling differ above this layer only.
 */
#ifndef TAKO_BENCH_LINK_H
#define TAKO_BENCH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINK_SENDS = 16 }; /* operations outstanding on a connection, at most */

enum link_opcode { LINK_WRITE, LINK_WRITE_WITH_IMMEDIATE, LINK_READ };

/* Moves bytes between places given as offsets in the memory of this side and of the peer's. */
struct link_operation {
	enum link_opcode opcode;
	bool signaled; /* raises an event when it is done */
	uint32_t length;
	uint64_t local;
	uint64_t remote;
};

/* A message came (an immediate did, or a send), or a signalled operation is done. */
struct link_event {
	uint32_t connection;
	bool is_message;
};

struct link;

struct link_ops {
	/* After fork(), by the process whose side it is; tells the peer what it must know. */
	void (*connect)(struct link *link, int control);
	/* Hands `count` operations over with one doorbell. */
	void (*post)(struct link *link, uint32_t connection,
		     const struct link_operation *operations, uint32_t count);
	/* Gives back the receive that a message used. */
	void (*receive_again)(struct link *link, uint32_t connection);
	/* Fills at most `max` events; returns how many. */
	uint32_t (*poll)(struct link *link, struct link_event *events, uint32_t max);
	/* Waits for events as Tako does: spins for a little where that can help, then sleeps. */
	void (*await)(struct link *link, int64_t timeout_ns);
};

/* One side. */
struct link {
	const struct link_ops *ops;
	struct link *peer;
	uint8_t *memory;
	size_t memory_size;
	uint32_t connections;
	void *state; /* the transport's */
};

/* Message areas in the memory of the two sides, a server and a client. */
struct link_messages {
	bool sent; /* by send and receive instead of a write with an immediate */
	uint32_t size;
	uint64_t stride; /* from one connection to the next */
	uint64_t incoming[2];
};

/* Make both sides, before fork(); on one processor nobody spins. */
void link_shm_create(struct link sides[2], bool one_processor);
void link_verbs_create(struct link sides[2], bool one_processor,
		       const struct link_messages *messages);

/* Sends `mine` to the other side and takes as much from there: both have come this far. */
void swap(int control, const void *mine, void *theirs, size_t size);

/* Zeroed memory that stays shared over fork(). */
void *shared_memory(size_t size);

/* Ends the process with a message on stderr unless `condition` holds. */
void require(bool condition, const char *what);

#endif
