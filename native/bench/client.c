/* The calling side: one thread that plays all clients. */
#include <stdio.h>
#include <string.h>

#include "call_bench.h"
#include "codec.h"
#include "control.h"

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

/* Puts data and their checksums where they can be moved from. */
static void stage_data(struct caller *caller, uint32_t connection)
{
	const struct bench *bench = caller->bench;
	memcpy(place(bench, CLIENT, connection, bench->data), caller->bytes, bench->size);
	write_checksums(bench, CLIENT, connection);
}

/* Posts the writes and the call after them. */
static void post_write(struct caller *caller, uint32_t connection, uint32_t request)
{
	const struct bench *bench = caller->bench;
	struct link_operation operations[TRANSFER_OPERATIONS + 1];
	transfer(bench, connection, LINK_WRITE, false, operations);
	operations[TRANSFER_OPERATIONS] =
	    (struct link_operation){.opcode = LINK_WRITE_WITH_IMMEDIATE,
				    .length = request,
				    .local = connection * bench->stride,
				    .remote = connection * bench->stride};
	caller->link->ops->post(caller->link, connection, operations, TRANSFER_OPERATIONS + 1);
}

static void begin(struct caller *caller, uint32_t connection)
{
	struct bench *bench = caller->bench;
	uint8_t *request = place(bench, CLIENT, connection, 0);
	uint32_t length = request_length(bench);
	if (bench->operation == WRITE_CLIENT || bench->operation == WRITE_SERVER)
		stage_data(caller, connection);
	memcpy(message_content(request, length), caller->bytes, length);
	uint32_t size = message_seal(request, length, ++caller->sequences[connection]);
	if (bench->operation == WRITE_CLIENT)
		post_write(caller, connection, size);
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
	uint8_t *to = place(bench, CLIENT, connection, bench->data);
	if (message_sequence(reply) != caller->sequences[connection] ||
	    message_open(reply, reply_length(bench), bench->operation == READ_MESSAGE ? to : NULL) <
		0)
		return false;
	if (bench->way != POLLED)
		caller->link->ops->receive_again(caller->link, connection);
	if (bench->operation == READ_CLIENT) {
		struct link_operation operations[TRANSFER_OPERATIONS];
		transfer(bench, connection, LINK_READ, true, operations);
		caller->link->ops->post(caller->link, connection, operations, TRANSFER_OPERATIONS);
		return true;
	}
	if (bench->operation == READ_SERVER)
		require(checksums_match(bench, CLIENT, connection), "data written");
	end(caller, connection);
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
	prefetch_messages(bench, CLIENT, events, count);
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
		if ((!found || loop % CLOCK_INTERVAL == 0) && waited >= waits && now_ns() >= until)
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

void call(struct bench *bench, int control, double seconds)
{
	struct caller caller;
	create(&caller, bench);
	uint32_t turns = bench->takes_turns ? TURNS_MIN : 0;
	int64_t measured_ns = (int64_t)(seconds * 1e9);
	call_until(&caller, now_ns() + measured_ns / 4, turns / 4);

	uint64_t calls = caller.calls;
	int64_t server_cpu = control_server_cpu_ns(control);
	int64_t client_cpu = cpu_ns(bench, CLIENT);
	int64_t start = now_ns();
	call_until(&caller, start + measured_ns, turns);
	int64_t elapsed = now_ns() - start;
	printf("%llu %lld %lld %lld\n", (unsigned long long)(caller.calls - calls),
	       (long long)elapsed, (long long)(cpu_ns(bench, CLIENT) - client_cpu),
	       (long long)(control_server_cpu_ns(control) - server_cpu));
}
