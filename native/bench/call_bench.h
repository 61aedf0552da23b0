/* One measurement: the work, and the state that a process keeps of it. */
#ifndef TAKO_BENCH_CALL_BENCH_H
#define TAKO_BENCH_CALL_BENCH_H

#include "link.h"

enum { SERVER, CLIENT };

/* Ways in which a call reaches the other side. */
enum way {
	IMMEDIATE, /* written, and announced by an immediate: self-identified */
	SEND,	   /* sent, into the receiver's next buffer */
	POLLED	   /* written; the receiver looks at every place where one may be */
};

enum operation {
	CALL,	       /* a request and a reply of `size` bytes */
	WRITE_CLIENT,  /* the client writes data and checksums, then calls to commit */
	WRITE_SERVER,  /* called, the server reads data and checksums, then replies */
	WRITE_MESSAGE, /* the request carries the data, the server copies them to their place */
	READ_CLIENT,   /* the client calls to locate, then reads data and checksums */
	READ_SERVER,   /* called, the server writes data and checksums and the reply */
	READ_MESSAGE   /* the server copies the data into the reply */
};

struct bench {
	enum way way;
	enum operation operation;
	uint32_t clients;
	uint32_t outstanding; /* calls under way at most, one a client */
	uint32_t size;	      /* bytes of a transfer, or of a call's messages */
	struct link sides[2];

	/* A connection's memory on either side, and the offsets of its parts. */
	uint64_t stride;
	uint32_t slot_size;
	uint64_t reply;
	uint64_t data;
	uint64_t checksums;

	bool is_remote;	    /* the other side is another host, and each has its own `bench` */
	bool takes_turns;   /* both processes have one processor, and hand it to each other */
	uint32_t turns[2];  /* futexes: how often a side was handed it */
	int64_t busy_ns[2]; /* processor time of the sides in their turns */
	uint32_t stopped;
};

enum { SMALL = 64, BATCH = 64, GRANULE = 4096, LINE = 64 };

/* Answers calls until `stopped`. */
void serve(struct bench *bench);

/*
 * Calls, and prints calls, nanoseconds, and the processor time of the client and of the server, of
 * which `control` (control.h) tells.
 */
void call(struct bench *bench, int control, double seconds);

static inline uint8_t *place(const struct bench *bench, int side, uint32_t connection,
			     uint64_t part)
{
	return bench->sides[side].memory + connection * bench->stride + part;
}

/* Posts a message that is at the same place of both sides' memory. */
void post_message(struct bench *bench, int side, uint32_t connection, uint64_t part,
		  uint32_t length);

/* Of many clients few are in the caches: messages that came are fetched side by side. */
static inline void prefetch_messages(const struct bench *bench, int side,
				     const struct link_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *request = place(bench, side, events[i].connection, 0);
		uint8_t *reply = place(bench, side, events[i].connection, bench->reply);
		__builtin_prefetch(request);
		__builtin_prefetch(request + LINE);
		__builtin_prefetch(reply, 1);
		__builtin_prefetch(reply + LINE, 1);
	}
}

/* After a look that may have found all there was: waits for more, or lets the other side run. */
void idle(struct bench *bench, int side);

/* Of a process that takes turns: its first one, and what lets the other side see `stopped`. */
void begin_turn(void);
void wake(struct bench *bench, int side);

/*
 * Processor time of a side, by the process whose side it is, in nanoseconds: of its turns alone
 * where it takes turns, and of the whole host, kernel and all, where that has one side only.
 */
int64_t cpu_ns(const struct bench *bench, int side);

/* Of a clock that only goes forward, in nanoseconds. */
int64_t now_ns(void);

/* Bytes of what a request and a reply carry. */
static inline uint32_t request_length(const struct bench *bench)
{
	bool carries = bench->operation == CALL || bench->operation == WRITE_MESSAGE;
	return carries ? bench->size : SMALL;
}

static inline uint32_t reply_length(const struct bench *bench)
{
	bool carries = bench->operation == CALL || bench->operation == READ_MESSAGE;
	return carries ? bench->size : SMALL;
}

/* A connection's data and their checksums, one a granule (transfer.c). */
enum { TRANSFER_OPERATIONS = 2 };
uint32_t granules(const struct bench *bench);
void write_checksums(const struct bench *bench, int side, uint32_t connection);
bool checksums_match(const struct bench *bench, int side, uint32_t connection);

/* The operations that move both between the same places of the sides. */
void transfer(const struct bench *bench, uint32_t connection, enum link_opcode opcode,
	      bool is_signaled, struct link_operation operations[TRANSFER_OPERATIONS]);

#endif
