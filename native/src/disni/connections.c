/* DiSNI's connection manager calls. */
#include "disni.h"

#include <errno.h>
#include <string.h>

#include "tako/verbs_control.h"

/* DiSNI's RdmaCmEvent.EventType has the order of the C enumeration. */
_Static_assert(RDMA_CM_EVENT_ADDR_RESOLVED == 0, "event 0");
_Static_assert(RDMA_CM_EVENT_CONNECT_REQUEST == 4, "event 4");
_Static_assert(RDMA_CM_EVENT_ESTABLISHED == 9, "event 9");
_Static_assert(RDMA_CM_EVENT_TIMEWAIT_EXIT == 15, "event 15");

static int result_of(int returned)
{
	return returned == 0 ? 0 : -errno;
}

static jlong create_event_channel(ARGS)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	if (channel == NULL)
		disni_throw(env, "rdma_create_event_channel", errno);
	return address_of(channel);
}

static jlong create_id(ARGS, jlong channel, jshort space)
{
	struct rdma_cm_id *id = NULL;
	disni_check(env, "rdma_create_id",
		    tako_cm_create_id(pointer(channel), (enum rdma_port_space)space, &id));
	return address_of(id);
}

static jlong create_qp(ARGS, jlong id, jlong pd, jlong send_cq, jlong recv_cq, jint type,
		       jint max_send, jint max_recv, jint max_inline)
{
	struct rdma_cm_id *cm_id = pointer(id);
	uint32_t max_sge = tako_cm_slot(cm_id)->max_sge;
	struct ibv_qp_init_attr attributes = {
	    .send_cq = pointer(send_cq),
	    .recv_cq = pointer(recv_cq),
	    .qp_type = (enum ibv_qp_type)type,
	    .cap = {.max_send_wr = (uint32_t)max_send,
		    .max_recv_wr = (uint32_t)max_recv,
		    .max_send_sge = max_sge,
		    .max_recv_sge = max_sge,
		    .max_inline_data = (uint32_t)max_inline},
	};
	if (disni_check(env, "rdma_create_qp",
			result_of(rdma_create_qp(cm_id, pointer(pd), &attributes))) < 0)
		return 0;
	return address_of(cm_id->qp);
}

static void bind_addr(ARGS, jlong id, jlong address)
{
	disni_check(env, "rdma_bind_addr",
		    result_of(rdma_bind_addr(pointer(id), pointer(address))));
}

static void listen_id(ARGS, jlong id, jint backlog)
{
	disni_check(env, "rdma_listen", result_of(rdma_listen(pointer(id), backlog)));
}

static void resolve_addr(ARGS, jlong id, jlong source, jlong destination, jint timeout_ms)
{
	disni_check(env, "rdma_resolve_addr",
		    result_of(rdma_resolve_addr(pointer(id), pointer(source), pointer(destination),
						timeout_ms)));
}

static void resolve_route(ARGS, jlong id, jint timeout_ms)
{
	disni_check(env, "rdma_resolve_route",
		    result_of(rdma_resolve_route(pointer(id), timeout_ms)));
}

/* A negative result is to DiSNI an event that did not come. */
static jint get_cm_event(ARGS, jlong channel, jlong listener_out, jlong id_out, jint timeout_ms)
{
	struct rdma_cm_id *listener = NULL;
	struct rdma_cm_id *id = NULL;
	int kind = tako_cm_get_event(pointer(channel), timeout_ms, &listener, &id);
	jlong ids[] = {address_of(listener), address_of(id)};
	memcpy(pointer(listener_out), &ids[0], sizeof(ids[0]));
	memcpy(pointer(id_out), &ids[1], sizeof(ids[1]));
	return kind;
}

/* Every event was acknowledged when it was taken. */
static jint ack_cm_event(ARGS, UNUSED jint event)
{
	return 0;
}

static void connect_id(ARGS, jlong id, jint retries, jint rnr_retries, jlong data, jbyte length)
{
	disni_check(
	    env, "rdma_connect",
	    tako_cm_connect(pointer(id), retries, rnr_retries, pointer(data), (uint8_t)length));
}

static void accept_id(ARGS, jlong id, jint retries, jint rnr_retries)
{
	disni_check(env, "rdma_accept", tako_cm_accept(pointer(id), retries, rnr_retries));
}

static jint disconnect(ARGS, jlong id)
{
	return result_of(rdma_disconnect(pointer(id)));
}

static jint destroy_event_channel(ARGS, jlong channel)
{
	rdma_destroy_event_channel(pointer(channel));
	return 0;
}

static jint destroy_id(ARGS, jlong id)
{
	return tako_cm_destroy_id(pointer(id));
}

static jint destroy_qp(ARGS, jlong id)
{
	struct rdma_cm_id *cm_id = pointer(id);
	if (cm_id->qp == NULL)
		return -EINVAL;
	rdma_destroy_qp(cm_id);
	return 0;
}

/* DiSNI knows IPv4 only, and its buffer holds no more. */
static jint copy_address(const struct sockaddr *address, jlong out)
{
	if (address == NULL || address->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	memcpy(pointer(out), address, sizeof(struct sockaddr_in));
	return 0;
}

static jint get_src_addr(ARGS, jlong id, jlong out)
{
	return copy_address(rdma_get_local_addr(pointer(id)), out);
}

static jint get_dst_addr(ARGS, jlong id, jlong out)
{
	return copy_address(rdma_get_peer_addr(pointer(id)), out);
}

/* Queue pair and identifier at once; nobody here makes endpoints in rdma_create_ep's sense. */
static jint destroy_ep(ARGS, jlong id)
{
	struct rdma_cm_id *cm_id = pointer(id);
	if (cm_id->qp != NULL)
		rdma_destroy_qp(cm_id);
	return tako_cm_destroy_id(cm_id);
}

static jlong get_context(ARGS, jlong id)
{
	return address_of(((struct rdma_cm_id *)pointer(id))->verbs);
}

const JNINativeMethod disni_connection_methods[] = {
    NATIVE("_createEventChannel", "()J", create_event_channel),
    NATIVE("_createId", "(JS)J", create_id),
    NATIVE("_createQP", "(JJJJIIII)J", create_qp),
    NATIVE("_bindAddr", "(JJ)V", bind_addr),
    NATIVE("_listen", "(JI)V", listen_id),
    NATIVE("_resolveAddr", "(JJJI)V", resolve_addr),
    NATIVE("_resolveRoute", "(JI)V", resolve_route),
    NATIVE("_getCmEvent", "(JJJI)I", get_cm_event),
    NATIVE("_connect", "(JIIJB)V", connect_id),
    NATIVE("_accept", "(JII)V", accept_id),
    NATIVE("_ackCmEvent", "(I)I", ack_cm_event),
    NATIVE("_disconnect", "(J)I", disconnect),
    NATIVE("_destroyEventChannel", "(J)I", destroy_event_channel),
    NATIVE("_destroyCmId", "(J)I", destroy_id),
    NATIVE("_destroyQP", "(J)I", destroy_qp),
    NATIVE("_getSrcAddr", "(JJ)I", get_src_addr),
    NATIVE("_getDstAddr", "(JJ)I", get_dst_addr),
    NATIVE("_destroyEp", "(J)I", destroy_ep),
    NATIVE("_getContext", "(J)J", get_context),
};
const int disni_connection_method_count =
    (int)(sizeof(disni_connection_methods) / sizeof(disni_connection_methods[0]));
