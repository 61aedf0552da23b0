/* The serving side: one thread. */
#include <string.h>

#include "call_bench.h"
#include "codec.h"

struct server {
	struct bench *bench;
	uint64_t *answered; /* calls, by connection */
	uint32_t next;	    /* connection that the next sweep begins with */
	uint8_t *copy;	    /* of a request, which its sender could still change */
};

/* False when no whole request is there. */
static bool take(const struct server *server, uint32_t connection)
{
	const struct bench *bench = server->bench;
	const uint8_t *request = place(bench, SERVER, connection, 0);
	uint8_t *to = bench->operation == WRITE_MESSAGE
			  ? place(bench, SERVER, connection, bench->data)
			  : server->copy;
	return message_open(request, request_length(bench), to) >= 0;
}

/* Writes a connection's reply; returns its size. */
static uint32_t seal_reply(struct server *server, uint32_t connection)
{
	const struct bench *bench = server->bench;
	uint8_t *reply = place(bench, SERVER, connection, bench->reply);
	uint32_t length = reply_length(bench);
	const uint8_t *content = bench->operation == READ_MESSAGE
				     ? place(bench, SERVER, connection, bench->data)
				     : server->copy;
	memcpy(message_content(reply, length), content, length);
	return message_seal(reply, length, ++server->answered[connection]);
}

static void answer(struct server *server, uint32_t connection)
{
	struct bench *bench = server->bench;
	post_message(bench, SERVER, connection, bench->reply, seal_reply(server, connection));
}

/* The data and the reply after them, with one doorbell: they arrive in this order. */
static void write_and_answer(struct server *server, uint32_t connection)
{
	struct bench *bench = server->bench;
	struct link_operation operations[TRANSFER_OPERATIONS + 1];
	uint64_t reply = connection * bench->stride + bench->reply;
	transfer(bench, connection, LINK_WRITE, false, operations);
	operations[TRANSFER_OPERATIONS] =
	    (struct link_operation){.opcode = LINK_WRITE_WITH_IMMEDIATE,
				    .length = seal_reply(server, connection),
				    .local = reply,
				    .remote = reply};
	struct link *link = &bench->sides[SERVER];
	link->ops->post(link, connection, operations, TRANSFER_OPERATIONS + 1);
}

/* Carries out the request of a call: an answer, or data to move with it or before it. */
static void handle(struct server *server, uint32_t connection)
{
	struct bench *bench = server->bench;
	struct link *link = &bench->sides[SERVER];
	if (bench->operation == WRITE_SERVER) {
		struct link_operation operations[TRANSFER_OPERATIONS];
		transfer(bench, connection, LINK_READ, true, operations);
		link->ops->post(link, connection, operations, TRANSFER_OPERATIONS);
	} else if (bench->operation == READ_SERVER) {
		write_and_answer(server, connection);
	} else {
		answer(server, connection);
	}
}

/* Looks at every connection's slot, from where the last look ended; returns what it found. */
static uint32_t sweep(struct server *server, struct link_event *events)
{
	const struct bench *bench = server->bench;
	uint32_t found = 0;
	for (uint32_t i = 0; i < bench->clients && found < BATCH; i++) {
		uint32_t connection = server->next;
		server->next = connection + 1 < bench->clients ? connection + 1 : 0;
		uint64_t sequence = message_sequence(place(bench, SERVER, connection, 0));
		if (sequence != server->answered[connection])
			events[found++] =
			    (struct link_event){.connection = connection, .is_message = true};
	}
	return found;
}

void serve(struct bench *bench)
{
	struct link *link = &bench->sides[SERVER];
	struct link_event events[BATCH];
	struct server server = {.bench = bench,
				.answered =
				    shared_memory(bench->clients * sizeof(*server.answered)),
				.copy = shared_memory(bench->slot_size)};
	bool polled = bench->way == POLLED;
	for (uint32_t i = 0; i < bench->clients && bench->operation != CALL; i++)
		write_checksums(bench, SERVER, i);
	while (__atomic_load_n(&bench->stopped, __ATOMIC_ACQUIRE) == 0) {
		uint32_t count =
		    polled ? sweep(&server, events) : link->ops->poll(link, events, BATCH);
		prefetch_messages(bench, SERVER, events, count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t connection = events[i].connection;
			if (!events[i].is_message) {
				answer(&server, connection); /* the data are here */
				continue;
			}
			bool whole = take(&server, connection);
			if (polled && !whole)
				continue; /* still landing */
			require(whole, "a request");
			if (!polled)
				link->ops->receive_again(link, connection);
			handle(&server, connection);
		}
		if (count < BATCH)
			idle(bench, SERVER);
	}
}
