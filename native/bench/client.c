/* The calling side: one thread that plays all clients. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "call_bench.h"
#include "codec.h"

enum {
	CLOCK_INTERVAL = 64, /* loops from one look at the clock to the next */
	TURNS_MIN = 10	     /* in which both sides waited, of a measurement */
};

struct caller {
	struct bench *bench;
	struct link *link;
	uint64_t *sequences;
	uint32_t *idle; /* clients without a call, in no order */
	uint32_t idle_count;
	uint32_t *busy; /* and with one */
	uint32_t busy_count;
	uint8_t *bytes; /* what applications write */
	uint64_t random;
	uint64_t calls;
};

/* The operations that move a connection's data and checksums, between the same places. */
static void transfer(const struct bench *bench, uint32_t connection, enum link_opcode opcode,
		     struct link_operation operations[2])
{
	uint64_t base = connection * bench->stride;
	operations[0] = (struct link_operation){.opcode = opcode,
						.length = bench->size,
						.local = base + bench->data,
						.remote = base + bench->data};
	operations[1] =
	    (struct link_operation){.opcode = opcode,
				    .signaled = opcode == LINK_READ,
				    .length = granules(bench) * (uint32_t)sizeof(uint32_t),
				    .local = base + bench->checksums,
				    .remote = base + bench->checksums};
}

/* Puts data and checksums into memory that can be sent from, and posts the writes and the call. */
static void post_active_write(struct caller *caller, uint32_t connection, uint32_t request)
{
	const struct bench *bench = caller->bench;
	struct link_operation operations[3];
	uint8_t *data = place(bench, CLIENT, connection, bench->data);
	memcpy(data, caller->bytes, bench->size);
	write_checksums(bench, CLIENT, connection);
	transfer(bench, connection, LINK_WRITE, operations);
	operations[2] = (struct link_operation){.opcode = LINK_WRITE_WITH_IMMEDIATE,
						.length = request,
						.local = connection * bench->stride,
						.remote = connection * bench->stride};
	caller->link->ops->post(caller->link, connection, operations, 3);
}

static void begin(struct caller *caller, uint32_t connection)
{
	struct bench *bench = caller->bench;
	uint8_t *request = place(bench, CLIENT, connection, 0);
	uint32_t length = bench->operation == WRITE_COPIED ? bench->size : SMALL;
	memcpy(message_content(request, length), caller->bytes, length);
	uint32_t size = message_seal(request, length, ++caller->sequences[connection]);
	if (bench->operation == WRITE_ACTIVE)
		post_active_write(caller, connection, size);
	else
		post_message(bench, CLIENT, connection, 0, size);
}

/* A client that has no call, any of them, begins one. */
static void begin_any(struct caller *caller)
{
	caller->random ^= caller->random << 13;
	caller->random ^= caller->random >> 7;
	caller->random ^= caller->random << 17;
	uint32_t index = (uint32_t)(caller->random % caller->idle_count);
	uint32_t connection = caller->idle[index];
	caller->idle[index] = caller->idle[--caller->idle_count];
	caller->busy[caller->busy_count++] = connection;
	begin(caller, connection);
}

static void end(struct caller *caller, uint32_t connection)
{
	uint32_t index = 0;
	while (caller->busy[index] != connection)
		index++;
	caller->busy[index] = caller->busy[--caller->busy_count];
	caller->idle[caller->idle_count++] = connection;
	caller->calls++;
}

/* Takes the reply of a connection; false when no whole one is there. */
static bool take_reply(struct caller *caller, uint32_t connection)
{
	struct bench *bench = caller->bench;
	const uint8_t *reply = place(bench, CLIENT, connection, bench->reply);
	uint32_t max = bench->operation == READ_COPIED ? bench->size : SMALL;
	uint8_t *to = place(bench, CLIENT, connection, bench->data);
	if (message_sequence(reply) != caller->sequences[connection] ||
	    message_open(reply, max, bench->operation == READ_COPIED ? to : NULL) < 0)
		return false;
	if (bench->way != POLLED)
		caller->link->ops->receive_again(caller->link, connection);
	if (bench->operation == READ_ACTIVE) {
		struct link_operation operations[2];
		transfer(bench, connection, LINK_READ, operations);
		caller->link->ops->post(caller->link, connection, operations, 2);
	} else {
		end(caller, connection);
	}
	return true;
}

/* Takes what has come; returns how much. */
static uint32_t take(struct caller *caller)
{
	struct bench *bench = caller->bench;
	uint32_t taken = 0;
	if (bench->way == POLLED) {
		for (uint32_t i = caller->busy_count; i > 0; i--)
			taken += take_reply(caller, caller->busy[i - 1]);
		return taken;
	}
	struct link_event events[BATCH];
	uint32_t count = caller->link->ops->poll(caller->link, events, BATCH);
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].is_message) {
			require(take_reply(caller, events[i].connection), "a reply");
		} else {
			require(checksums_match(bench, CLIENT, events[i].connection), "data read");
			end(caller, events[i].connection);
		}
	}
	return count;
}

/* Calls until `until` on the monotonic clock, and until it has waited that often. */
static void call_until(struct caller *caller, int64_t until, uint32_t waits)
{
	uint32_t waited = 0;
	for (uint32_t loop = 1;; loop++) {
		while (caller->busy_count < caller->bench->outstanding)
			begin_any(caller);
		bool found = take(caller) != 0;
		if (!found) {
			idle(caller->bench, CLIENT);
			waited++;
		}
		if ((!found || loop % CLOCK_INTERVAL == 0) && waited >= waits &&
		    clock_ns(CLOCK_MONOTONIC) >= until)
			return;
	}
}

static void create(struct caller *caller, struct bench *bench)
{
	*caller = (struct caller){.bench = bench,
				  .link = &bench->sides[CLIENT],
				  .sequences = shared_memory(bench->clients * sizeof(uint64_t)),
				  .idle = shared_memory(bench->clients * sizeof(uint32_t)),
				  .busy = shared_memory(bench->clients * sizeof(uint32_t)),
				  .bytes = shared_memory(bench->slot_size),
				  .random = 88172645463325252};
	for (uint32_t i = 0; i < bench->clients; i++)
		caller->idle[caller->idle_count++] = i;
	memset(caller->bytes, 7, bench->slot_size);
}

/* Processor time of a side: of its turns alone where they take turns. */
static int64_t cpu_ns(const struct bench *bench, int side, clockid_t clock)
{
	if (bench->one_processor)
		return __atomic_load_n(&bench->busy_ns[side], __ATOMIC_RELAXED);
	return clock_ns(clock);
}

void call(struct bench *bench, pid_t server)
{
	struct caller caller;
	clockid_t server_clock;
	require(clock_getcpuclockid(server, &server_clock) == 0, "finding the server's clock");
	create(&caller, bench);
	uint32_t waits = bench->one_processor ? TURNS_MIN : 0;
	int64_t measured_ns = (int64_t)(bench->seconds * 1e9);
	call_until(&caller, clock_ns(CLOCK_MONOTONIC) + measured_ns / 4, waits / 4);

	uint64_t calls = caller.calls;
	int64_t server_cpu = cpu_ns(bench, SERVER, server_clock);
	int64_t client_cpu = cpu_ns(bench, CLIENT, CLOCK_PROCESS_CPUTIME_ID);
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	call_until(&caller, start + measured_ns, bench->one_processor ? TURNS_MIN : 0);
	int64_t elapsed = clock_ns(CLOCK_MONOTONIC) - start;
	printf("%llu %lld %lld %lld\n", (unsigned long long)(caller.calls - calls),
	       (long long)elapsed,
	       (long long)(cpu_ns(bench, CLIENT, CLOCK_PROCESS_CPUTIME_ID) - client_cpu),
	       (long long)(cpu_ns(bench, SERVER, server_clock) - server_cpu));
}
