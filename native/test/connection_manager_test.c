/* The connection manager's part of the core, over a librdmacm that this file plays. */
#include "check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tako/verbs_control.h"

static struct rdma_cm_event next_event;
static bool has_event;
static int acknowledged;
static int rejected;
static int timeouts_set;
static bool refuses_options;
static struct rdma_conn_param passed;
static uint8_t passed_data[TAKO_VERBS_EVENT_DATA_MAX];

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space space)
{
	if (space != RDMA_PS_TCP) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	*id = calloc(1, sizeof(**id));
	(*id)->channel = channel;
	(*id)->context = context;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
	(void)id;
	CHECK(level == RDMA_OPTION_ID && name == RDMA_OPTION_ID_ACK_TIMEOUT);
	CHECK(length == 1 && *(uint8_t *)value > 0 && *(uint8_t *)value < 32);
	timeouts_set++;
	errno = EINVAL;
	return refuses_options ? -1 : 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	(void)channel;
	if (!has_event) {
		errno = EAGAIN;
		return -1;
	}
	has_event = false;
	*event = &next_event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	acknowledged++;
	memset(event, 0xee, sizeof(*event)); /* nobody may look at it any more */
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	(void)id;
	(void)data;
	(void)length;
	rejected++;
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn)
{
	(void)id;
	passed = *conn;
	memcpy(passed_data, conn->private_data, conn->private_data_len);
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn)
{
	(void)id;
	passed = *conn;
	memcpy(passed_data, conn->private_data, conn->private_data_len);
	errno = EINVAL;
	return passed_data[0] == 7 ? -1 : 0;
}

struct world {
	struct rdma_event_channel channel;
	int pipe[2];
	struct rdma_cm_id *id;
};

static void set_up(struct world *world)
{
	CHECK(pipe(world->pipe) == 0);
	world->channel.fd = world->pipe[0];
	CHECK(tako_cm_create_id(&world->channel, RDMA_PS_TCP, &world->id) == 0);
}

static void tear_down(struct world *world)
{
	CHECK(tako_cm_destroy_id(world->id) == 0);
	close(world->pipe[0]);
	close(world->pipe[1]);
}

static void send_event(struct world *world, enum rdma_cm_event_type type, struct rdma_cm_id *id,
		       const void *data, uint8_t length)
{
	next_event = (struct rdma_cm_event){.id = id, .event = type, .status = -ETIMEDOUT};
	next_event.param.conn.private_data = data;
	next_event.param.conn.private_data_len = length;
	has_event = true;
	CHECK(write(world->pipe[1], "e", 1) == 1);
}

static void should_say_that_no_event_came(void)
{
	struct world world;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	set_up(&world);
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) == -EAGAIN);
	CHECK(write(world.pipe[1], "e", 1) == 1); /* readable, and yet nothing there */
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) == -EAGAIN);
	tear_down(&world);
}

static void should_keep_what_an_event_said_after_acknowledging_it(void)
{
	struct world world;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	uint8_t data[255];
	set_up(&world);
	memset(data, 'x', sizeof(data));
	send_event(&world, RDMA_CM_EVENT_REJECTED, world.id, data, sizeof(data));
	acknowledged = 0;
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) == RDMA_CM_EVENT_REJECTED);
	CHECK(acknowledged == 1);
	CHECK(id == world.id && listener == NULL);
	struct tako_verbs_event *event = &tako_cm_slot(id)->event;
	CHECK(event->status == -ETIMEDOUT);
	CHECK(event->length == sizeof(data));
	CHECK(memcmp(event->data, data, sizeof(data)) == 0);
	CHECK(event->data[sizeof(data)] == 0);

	send_event(&world, RDMA_CM_EVENT_DISCONNECTED, world.id, NULL, 0);
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) == RDMA_CM_EVENT_DISCONNECTED);
	CHECK(event->length == 0 && event->data[0] == 0);
	tear_down(&world);
}

static void should_give_a_request_a_slot_of_its_own(void)
{
	struct world world;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct rdma_cm_id *request = calloc(1, sizeof(*request));
	set_up(&world);
	request->context = world.id->context; /* as librdmacm hands it over */
	send_event(&world, RDMA_CM_EVENT_CONNECT_REQUEST, request, "hi", 2);
	next_event.listen_id = world.id;
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) ==
	      RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(id == request && listener == world.id);
	CHECK(tako_cm_slot(request) != tako_cm_slot(world.id));
	CHECK(tako_cm_slot(request)->event.length == 2);
	CHECK(tako_cm_slot(world.id)->event.length == 0);
	CHECK(tako_cm_slot(request)->max_sge == 1);
	CHECK(tako_cm_destroy_id(request) == 0);
	tear_down(&world);
}

static void should_pass_what_was_staged(void)
{
	struct world world;
	uint8_t data[TAKO_VERBS_ACCEPT_DATA_MAX + 1] = {1, 2, 3};
	set_up(&world);
	CHECK(tako_cm_stage_accept(world.id, data, sizeof(data)) == -EINVAL);
	CHECK(tako_cm_stage_accept(world.id, data, TAKO_VERBS_ACCEPT_DATA_MAX) == 0);
	CHECK(tako_cm_accept(world.id, 7, 6) == 0);
	CHECK(memcmp(passed_data, data, TAKO_VERBS_ACCEPT_DATA_MAX) == 0);
	CHECK(passed.retry_count == 7 && passed.rnr_retry_count == 6);
	CHECK(passed.responder_resources == RDMA_MAX_RESP_RES);
	data[0] = 7;
	CHECK(tako_cm_stage_accept(world.id, data, 1) == 0);
	CHECK(tako_cm_accept(world.id, 7, 6) == -EINVAL);
	tear_down(&world);
}

/* Plays the wire: the other side's event has the passed data, padded to the room there is. */
static void deliver(struct world *world, enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct rdma_cm_id *listener;
	struct rdma_cm_id *heard;
	send_event(world, type, id, passed_data, passed.private_data_len);
	next_event.param.conn.flow_control = passed.flow_control;
	CHECK(tako_cm_get_event(&world->channel, 0, &listener, &heard) == (int)type);
	CHECK(heard == id);
}

static void should_deliver_private_data_of_every_length(void)
{
	struct world world;
	uint8_t data[TAKO_VERBS_ACCEPT_DATA_MAX];
	set_up(&world);
	memset(data, 0xab, sizeof(data));
	for (uint8_t length = 0; length <= TAKO_VERBS_REQUEST_DATA_MAX; length++) {
		struct rdma_cm_id *request = calloc(1, sizeof(*request));
		CHECK(tako_cm_connect(world.id, 5, 4, data, length) == 0);
		deliver(&world, RDMA_CM_EVENT_CONNECT_REQUEST, request);
		CHECK(tako_cm_slot(request)->event.length == length);
		CHECK(memcmp(tako_cm_slot(request)->event.data, data, length) == 0);
		CHECK(tako_cm_destroy_id(request) == 0);
	}
	for (uint32_t length = 0; length <= TAKO_VERBS_ACCEPT_DATA_MAX; length++) {
		CHECK(tako_cm_stage_accept(world.id, data, length) == 0);
		CHECK(tako_cm_accept(world.id, 7, 6) == 0);
		deliver(&world, RDMA_CM_EVENT_ESTABLISHED, world.id);
		CHECK(tako_cm_slot(world.id)->event.length == length);
	}
	tear_down(&world);
}

static void should_limit_how_long_a_packet_stays_unanswered(void)
{
	struct world world;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	timeouts_set = 0;
	set_up(&world);
	CHECK(timeouts_set == 1);
	struct rdma_cm_id *request = calloc(1, sizeof(*request));
	send_event(&world, RDMA_CM_EVENT_CONNECT_REQUEST, request, NULL, 0);
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) ==
	      RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(timeouts_set == 2);
	CHECK(tako_cm_destroy_id(request) == 0);
	tear_down(&world);
}

static void should_make_nothing_whose_limit_cannot_be_set(void)
{
	struct world world;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	set_up(&world);
	refuses_options = true;
	CHECK(tako_cm_create_id(&world.channel, RDMA_PS_TCP, &id) == -EINVAL);
	send_event(&world, RDMA_CM_EVENT_CONNECT_REQUEST, calloc(1, sizeof(*id)), NULL, 0);
	rejected = 0;
	CHECK(tako_cm_get_event(&world.channel, 0, &listener, &id) == -EINVAL);
	CHECK(rejected == 1);
	rejected = 0;
	refuses_options = false;
	tear_down(&world);
}

static void should_tell_an_event_from_the_end_of_all(void)
{
	int channel[2];
	int wakeup[2];
	CHECK(pipe(channel) == 0 && pipe(wakeup) == 0);
	CHECK(tako_cm_await(channel[0], wakeup[0], 0) == TAKO_CM_NOTHING);
	CHECK(write(wakeup[1], "w", 1) == 1);
	CHECK(tako_cm_await(channel[0], wakeup[0], -1) == TAKO_CM_NOTHING);
	CHECK(write(channel[1], "e", 1) == 1);
	CHECK(tako_cm_await(channel[0], wakeup[0], -1) == TAKO_CM_EVENT);
	CHECK(close(channel[1]) == 0); /* a hang-up, after what was written before */
	CHECK(tako_cm_await(channel[0], wakeup[0], -1) == TAKO_CM_EVENT);
	char taken;
	CHECK(read(channel[0], &taken, 1) == 1);
	CHECK(tako_cm_await(channel[0], wakeup[0], -1) == TAKO_CM_ENDED);
	CHECK(close(channel[0]) == 0);
	CHECK(tako_cm_await(channel[0], wakeup[0], -1) == TAKO_CM_ENDED);
	CHECK(close(wakeup[0]) == 0 && close(wakeup[1]) == 0);
}

int main(void)
{
	should_say_that_no_event_came();
	should_keep_what_an_event_said_after_acknowledging_it();
	should_give_a_request_a_slot_of_its_own();
	should_pass_what_was_staged();
	should_deliver_private_data_of_every_length();
	should_limit_how_long_a_packet_stays_unanswered();
	should_make_nothing_whose_limit_cannot_be_set();
	should_tell_an_event_from_the_end_of_all();
	CHECK(rejected == 0);
	return 0;
}
