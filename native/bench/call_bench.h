/* One measurement: what is done, and what the two processes share. */
#ifndef TAKO_BENCH_CALL_BENCH_H
#define TAKO_BENCH_CALL_BENCH_H

#include <sys/types.h>
#include <time.h>

#include "link.h"

enum { SERVER, CLIENT };

/* How a call reaches the other side. */
enum way {
	IMMEDIATE, /* written, and announced by an immediate: self-identified */
	SEND,	   /* sent, into the receiver's next buffer */
	POLLED	   /* written; the receiver looks at every place where one may be */
};

enum operation {
	CALL,	      /* a small request, a small reply */
	WRITE_ACTIVE, /* the client writes data and checksums, then calls to commit */
	WRITE_COPIED, /* the request carries the data, the server copies them to their place */
	READ_ACTIVE,  /* the client calls to locate, then reads data and checksums */
	READ_COPIED   /* the server copies the data into the reply */
};

struct bench {
	enum way way;
	enum operation operation;
	uint32_t clients;
	uint32_t outstanding; /* calls under way at most, one a client */
	uint32_t size;	      /* bytes of a transfer */
	double seconds;
	struct link sides[2];

	/* A connection's memory on either side, and the offsets of its parts. */
	uint64_t stride;
	uint32_t slot_size;
	uint64_t reply;
	uint64_t data;
	uint64_t checksums;

	bool one_processor; /* for both processes */
	uint32_t turns[2];  /* futexes: how often a side was handed the one processor */
	int64_t busy_ns[2]; /* processor time of the sides in their turns */
	uint32_t ready;	    /* steps that the processes have taken */
	uint32_t stopped;
};

enum { SMALL = 64, BATCH = 64, GRANULE = 4096 };

/* Answers calls until `stopped`. */
void serve(struct bench *bench);

/* Calls, and prints calls, nanoseconds, and the processor time of the client and of `server`. */
void call(struct bench *bench, pid_t server);

static inline uint8_t *place(const struct bench *bench, int side, uint32_t connection,
			     uint64_t part)
{
	return bench->sides[side].memory + connection * bench->stride + part;
}

/* Posts a message that is at the same place of both sides' memory. */
void post_message(struct bench *bench, int side, uint32_t connection, uint64_t part,
		  uint32_t length);

/* After a look that may have found all there was: waits for more, or lets the other side run. */
void idle(struct bench *bench, int side);

/* What a clock says, in nanoseconds. */
int64_t clock_ns(clockid_t clock);

/* Granules of a transfer, and the checksums of a connection's data. */
uint32_t granules(const struct bench *bench);
void write_checksums(const struct bench *bench, int side, uint32_t connection);
bool checksums_match(const struct bench *bench, int side, uint32_t connection);

#endif
