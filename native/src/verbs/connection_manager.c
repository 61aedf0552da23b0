#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tako/verbs_control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static int result_of(int returned)
{
	return returned == 0 ? 0 : -errno;
}

struct tako_cm_slot *tako_cm_slot(struct rdma_cm_id *id)
{
	return id->context;
}

static struct tako_cm_slot *new_slot(void)
{
	struct tako_cm_slot *slot = calloc(1, sizeof(*slot));
	if (slot != NULL)
		slot->max_sge = 1;
	return slot;
}

/*
 * Time for which a packet may stay unanswered before it is sent again, as a power of two of 4.096
 * us: half a second. Without this the connection manager takes the two seconds that it thinks a
 * packet may live, and a dead peer is noticed a quarter of a minute later. It must be longer than a
 * busy peer needs to answer: some devices take up to four times as long as they are told.
 */
enum { TAKO_CM_ACK_TIMEOUT = 17 };

static int set_ack_timeout(struct rdma_cm_id *id)
{
	uint8_t timeout = TAKO_CM_ACK_TIMEOUT;
	return result_of(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
					 sizeof(timeout)));
}

int tako_cm_create_id(struct rdma_event_channel *channel, enum rdma_port_space space,
		      struct rdma_cm_id **id)
{
	struct tako_cm_slot *slot = new_slot();
	if (slot == NULL)
		return -ENOMEM;
	if (rdma_create_id(channel, id, slot, space) != 0) {
		int error = -errno;
		free(slot);
		return error;
	}
	int error = set_ack_timeout(*id);
	if (error < 0) {
		(void)rdma_destroy_id(*id);
		free(slot);
	}
	return error;
}

/* A request's identifier comes with its listener's context and gets one of its own. */
static int take_request(struct rdma_cm_id *id)
{
	id->context = new_slot();
	int error = id->context == NULL ? -ENOMEM : set_ack_timeout(id);
	if (error < 0) {
		free(id->context);
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
	}
	return error;
}

/*
 * The wire pads private data with zeros and does not carry its length: so the last byte that there
 * is room for holds it. A request has no byte to spare when it is full, and says so by its flow
 * control bit, which means nothing to queue pairs of this kind.
 */
enum { TAKO_CM_FULL_REQUEST = 1 };

static uint8_t frame(uint8_t *framed, size_t room, const void *data, size_t length)
{
	memset(framed, 0, room);
	if (length > 0)
		memcpy(framed, data, length);
	if (length < room)
		framed[room - 1] = (uint8_t)length;
	return (uint8_t)room;
}

/* Bytes of `data` that the peer meant; rejections are text, which ends at the first zero. */
static uint32_t length_of(int kind, const struct rdma_conn_param *conn, const uint8_t *data)
{
	size_t room = kind == RDMA_CM_EVENT_CONNECT_REQUEST ? (size_t)TAKO_VERBS_REQUEST_DATA_MAX
							    : (size_t)TAKO_CM_ACCEPT_DATA_MAX;
	if (kind == RDMA_CM_EVENT_REJECTED)
		return (uint32_t)strnlen((const char *)data, conn->private_data_len);
	if (conn->private_data_len < room)
		return conn->private_data_len;
	if (kind == RDMA_CM_EVENT_CONNECT_REQUEST && conn->flow_control == TAKO_CM_FULL_REQUEST)
		return (uint32_t)room;
	return data[room - 1] < room ? data[room - 1] : (uint32_t)room - 1;
}

static void keep_event(struct tako_cm_slot *slot, int kind, int status,
		       const struct rdma_conn_param *conn, const uint8_t *data)
{
	uint32_t length = data == NULL ? 0 : length_of(kind, conn, data);
	memset(&slot->event, 0, sizeof(slot->event));
	slot->event.status = status;
	slot->event.length = length;
	if (length > 0)
		memcpy(slot->event.data, data, length);
}

static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	int ready = poll(&readable, 1, timeout_ms);
	if (ready > 0)
		return 0;
	return ready == 0 || errno == EINTR ? -EAGAIN : -errno;
}

int tako_cm_get_event(struct rdma_event_channel *channel, int timeout_ms,
		      struct rdma_cm_id **listener, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	struct rdma_conn_param conn;
	uint8_t data[TAKO_VERBS_EVENT_DATA_MAX];
	int error = wait_readable(channel->fd, timeout_ms);
	if (error < 0)
		return error;
	if (rdma_get_cm_event(channel, &event) != 0)
		return errno == EINTR ? -EAGAIN : -errno;
	int kind = (int)event->event;
	int status = event->status;
	conn = event->param.conn;
	if (conn.private_data != NULL)
		memcpy(data, conn.private_data, conn.private_data_len);
	*listener = event->listen_id;
	*id = event->id;
	/* Nothing of the event is kept, so that destroying its identifier never has to wait. */
	rdma_ack_cm_event(event);
	if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
		error = take_request(*id);
		if (error < 0)
			return error;
	}
	if ((*id)->context != NULL)
		keep_event((*id)->context, kind, status, &conn,
			   conn.private_data == NULL ? NULL : data);
	return kind;
}

int tako_cm_await(int channel, int wakeup, int timeout_ms)
{
	struct pollfd files[] = {{.fd = channel, .events = POLLIN},
				 {.fd = wakeup, .events = POLLIN}};
	if (poll(files, 2, timeout_ms) < 0)
		return errno == EINTR ? TAKO_CM_NOTHING : -errno;
	if ((files[0].revents & POLLIN) != 0)
		return TAKO_CM_EVENT;
	return (files[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? TAKO_CM_ENDED
									: TAKO_CM_NOTHING;
}

int tako_cm_stage_pair(struct rdma_cm_id *id, uint32_t max_sge)
{
	tako_cm_slot(id)->max_sge = max_sge;
	return 0;
}

int tako_cm_stage_accept(struct rdma_cm_id *id, const void *data, uint32_t length)
{
	struct tako_cm_slot *slot = tako_cm_slot(id);
	if (length > TAKO_VERBS_ACCEPT_DATA_MAX)
		return -EINVAL;
	memcpy(slot->accept_data, data, length);
	slot->accept_length = length;
	return 0;
}

static struct rdma_conn_param parameters(int retries, int rnr_retries, const void *data,
					 uint8_t length)
{
	return (struct rdma_conn_param){
	    .private_data = data,
	    .private_data_len = length,
	    .responder_resources = RDMA_MAX_RESP_RES,
	    .initiator_depth = RDMA_MAX_INIT_DEPTH,
	    .retry_count = (uint8_t)retries,
	    .rnr_retry_count = (uint8_t)rnr_retries,
	};
}

int tako_cm_connect(struct rdma_cm_id *id, int retries, int rnr_retries, const void *data,
		    uint8_t length)
{
	uint8_t framed[TAKO_VERBS_REQUEST_DATA_MAX];
	if (length > sizeof(framed))
		return -EINVAL;
	struct rdma_conn_param conn =
	    parameters(retries, rnr_retries, framed, frame(framed, sizeof(framed), data, length));
	conn.flow_control = length == sizeof(framed) ? TAKO_CM_FULL_REQUEST : 0;
	return result_of(rdma_connect(id, &conn));
}

int tako_cm_accept(struct rdma_cm_id *id, int retries, int rnr_retries)
{
	struct tako_cm_slot *slot = tako_cm_slot(id);
	uint8_t framed[TAKO_CM_ACCEPT_DATA_MAX];
	struct rdma_conn_param conn =
	    parameters(retries, rnr_retries, framed,
		       frame(framed, sizeof(framed), slot->accept_data, slot->accept_length));
	return result_of(rdma_accept(id, &conn));
}

int tako_cm_destroy_id(struct rdma_cm_id *id)
{
	struct tako_cm_slot *slot = tako_cm_slot(id);
	int error = result_of(rdma_destroy_id(id));
	if (error == 0)
		free(slot);
	return error;
}
