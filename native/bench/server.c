/* The serving side: one thread. */
#include <string.h>

#include "call_bench.h"
#include "codec.h"

static uint8_t copy[SMALL + CODEC_OVERHEAD];

/* False when no whole request is there. */
static bool take(const struct bench *bench, uint32_t connection)
{
	const uint8_t *request = place(bench, SERVER, connection, 0);
	if (bench->operation == WRITE_COPIED)
		return message_open(request, bench->size,
				    place(bench, SERVER, connection, bench->data)) >= 0;
	return message_open(request, sizeof(copy), copy) >= 0;
}

static void answer(struct bench *bench, uint32_t connection, uint64_t sequence)
{
	uint8_t *reply = place(bench, SERVER, connection, bench->reply);
	uint32_t length = bench->operation == READ_COPIED ? bench->size : SMALL;
	const uint8_t *content =
	    bench->operation == READ_COPIED ? place(bench, SERVER, connection, bench->data) : copy;
	memcpy(message_content(reply, length), content, length);
	post_message(bench, SERVER, connection, bench->reply,
		     message_seal(reply, length, sequence));
}

/* Looks at every connection's slot, from where the last look ended; returns what it found. */
static uint32_t sweep(const struct bench *bench, const uint64_t *answered, uint32_t *next,
		      struct link_event *events)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < bench->clients && found < BATCH; i++) {
		uint32_t connection = *next;
		*next = connection + 1 < bench->clients ? connection + 1 : 0;
		uint64_t sequence = message_sequence(place(bench, SERVER, connection, 0));
		if (sequence != answered[connection])
			events[found++] =
			    (struct link_event){.connection = connection, .is_message = true};
	}
	return found;
}

void serve(struct bench *bench)
{
	struct link *link = &bench->sides[SERVER];
	struct link_event events[BATCH];
	uint64_t *answered = shared_memory(bench->clients * sizeof(*answered));
	uint32_t next = 0;
	for (uint32_t i = 0; i < bench->clients && bench->operation != CALL; i++)
		write_checksums(bench, SERVER, i);
	while (__atomic_load_n(&bench->stopped, __ATOMIC_ACQUIRE) == 0) {
		bool polled = bench->way == POLLED;
		uint32_t count = polled ? sweep(bench, answered, &next, events)
					: link->ops->poll(link, events, BATCH);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t connection = events[i].connection;
			if (!events[i].is_message)
				continue;
			bool whole = take(bench, connection);
			if (polled && !whole)
				continue; /* still landing */
			require(whole, "a request");
			if (!polled)
				link->ops->receive_again(link, connection);
			answered[connection]++;
			answer(bench, connection, answered[connection]);
		}
		if (count < BATCH)
			idle(bench, SERVER);
	}
}
