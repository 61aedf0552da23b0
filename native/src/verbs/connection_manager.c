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
	return 0;
}

/* A request's identifier comes with its listener's context and gets one of its own. */
static int take_request(struct rdma_cm_id *id)
{
	id->context = new_slot();
	if (id->context != NULL)
		return 0;
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
	return -ENOMEM;
}

static void keep_event(struct tako_cm_slot *slot, int status, const struct rdma_conn_param *conn,
		       const uint8_t *data)
{
	uint32_t length = data == NULL ? 0 : conn->private_data_len;
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
		keep_event((*id)->context, status, &conn, conn.private_data == NULL ? NULL : data);
	return kind;
}

int tako_cm_stage_pair(struct rdma_cm_id *id, uint32_t max_sge)
{
	tako_cm_slot(id)->max_sge = max_sge;
	return 0;
}

int tako_cm_stage_accept(struct rdma_cm_id *id, const void *data, uint32_t length)
{
	struct tako_cm_slot *slot = tako_cm_slot(id);
	if (length > sizeof(slot->accept_data))
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
	struct rdma_conn_param conn = parameters(retries, rnr_retries, data, length);
	return result_of(rdma_connect(id, &conn));
}

int tako_cm_accept(struct rdma_cm_id *id, int retries, int rnr_retries)
{
	struct tako_cm_slot *slot = tako_cm_slot(id);
	struct rdma_conn_param conn =
	    parameters(retries, rnr_retries, slot->accept_data, (uint8_t)slot->accept_length);
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
