/* DiSNI's verbs calls: those that make and destroy things. Posting and polling is not done here. */
#include "disni.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <netinet/in.h>

enum {
	DISNI_VERSION = 32,	 /* of the natives that DiSNI 2.1 asks for */
	DISNI_ADDRESS_SIZE = 28, /* bytes that DiSNI reserves for a socket address */
};

/*
 * DiSNI writes C structs by offsets of its own, and on a size that differs only logs. So they are
 * compared here, where a difference ends the build.
 */
_Static_assert(sizeof(struct sockaddr_in) <= DISNI_ADDRESS_SIZE, "an address fits DiSNI's buffer");
_Static_assert(offsetof(struct sockaddr_in, sin_port) == 2, "port of an address");
_Static_assert(offsetof(struct sockaddr_in, sin_addr) == 4, "address of an address");

static jlong alloc_pd(ARGS, jlong context)
{
	struct ibv_pd *pd = ibv_alloc_pd(pointer(context));
	if (pd == NULL)
		disni_throw(env, "ibv_alloc_pd", errno);
	return address_of(pd);
}

static jlong create_comp_channel(ARGS, jlong context)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(pointer(context));
	if (channel == NULL)
		disni_throw(env, "ibv_create_comp_channel", errno);
	return address_of(channel);
}

static jlong create_cq(ARGS, jlong context, jlong channel, jint entries, jint vector)
{
	struct ibv_cq *cq =
	    ibv_create_cq(pointer(context), entries, NULL, pointer(channel), vector);
	if (cq == NULL)
		disni_throw(env, "ibv_create_cq", errno);
	return address_of(cq);
}

static jlong reg_mr(ARGS, jlong pd, jlong address, jint length, jint access, jlong lkey, jlong rkey,
		    jlong handle)
{
	if (length <= 0) {
		disni_throw(env, "ibv_reg_mr", EINVAL);
		return 0;
	}
	struct ibv_mr *mr =
	    ibv_reg_mr(pointer(pd), pointer(address), (size_t)length, (unsigned)access);
	if (mr == NULL) {
		disni_throw(env, "ibv_reg_mr", errno);
		return 0;
	}
	memcpy(pointer(lkey), &mr->lkey, sizeof(mr->lkey));
	memcpy(pointer(rkey), &mr->rkey, sizeof(mr->rkey));
	memcpy(pointer(handle), &mr->handle, sizeof(mr->handle));
	return address_of(mr);
}

static void dereg_mr(ARGS, jlong mr)
{
	disni_check(env, "ibv_dereg_mr", -ibv_dereg_mr(pointer(mr)));
}

static jint destroy_comp_channel(ARGS, jlong channel)
{
	return -ibv_destroy_comp_channel(pointer(channel));
}

static jint dealloc_pd(ARGS, jlong pd)
{
	return -ibv_dealloc_pd(pointer(pd));
}

static jint destroy_cq(ARGS, jlong cq)
{
	return -ibv_destroy_cq(pointer(cq));
}

static jint get_qp_num(ARGS, jlong qp)
{
	return (jint)((struct ibv_qp *)pointer(qp))->qp_num;
}

static jint get_context_fd(ARGS, jlong context)
{
	return ((struct ibv_context *)pointer(context))->cmd_fd;
}

static jint get_context_num_comp_vectors(ARGS, jlong context)
{
	return ((struct ibv_context *)pointer(context))->num_comp_vectors;
}

static jint get_pd_handle(ARGS, jlong pd)
{
	return (jint)((struct ibv_pd *)pointer(pd))->handle;
}

static jint query_odp_support(ARGS, UNUSED jlong context)
{
	return -EOPNOTSUPP;
}

static jint exp_prefetch_mr(ARGS, UNUSED jlong mr, UNUSED jlong address, UNUSED jint length)
{
	disni_throw(env, "prefetching a region, which nothing here registers on demand",
		    EOPNOTSUPP);
	return -EOPNOTSUPP;
}

/*
 * The data path does not go through DiSNI: it loses what failed completions say, and allocates.
 */
static void refuse(JNIEnv *env)
{
	disni_throw(env, "posting and polling through DiSNI", EOPNOTSUPP);
}

static jint modify_qp(ARGS, UNUSED jlong qp, UNUSED jlong attributes)
{
	refuse(env);
	return -EOPNOTSUPP;
}

static void post(ARGS, UNUSED jlong qp, UNUSED jlong list)
{
	refuse(env);
}

static jint get_cq_event(ARGS, UNUSED jlong channel, UNUSED jint timeout)
{
	refuse(env);
	return -EOPNOTSUPP;
}

static jint poll_cq(ARGS, UNUSED jlong cq, UNUSED jint max, UNUSED jlong list)
{
	refuse(env);
	return -EOPNOTSUPP;
}

static jint req_notify_cq(ARGS, UNUSED jlong cq, UNUSED jint solicited_only)
{
	refuse(env);
	return -EOPNOTSUPP;
}

static jint ack_cq_event(ARGS, UNUSED jlong cq, UNUSED jint count)
{
	return -EOPNOTSUPP;
}

static jint get_address_size(ARGS)
{
	return DISNI_ADDRESS_SIZE;
}

static jint get_recv_wr_size(ARGS)
{
	return (jint)sizeof(struct ibv_recv_wr);
}

static jint get_send_wr_size(ARGS)
{
	return (jint)sizeof(struct ibv_send_wr);
}

static jint get_sge_size(ARGS)
{
	return (jint)sizeof(struct ibv_sge);
}

static jint get_wc_size(ARGS)
{
	return (jint)sizeof(struct ibv_wc);
}

static jint get_remote_address_offset(ARGS)
{
	return (jint)offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

static jint get_rkey_offset(ARGS)
{
	return (jint)offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

static jint get_version(ARGS)
{
	return DISNI_VERSION;
}

const JNINativeMethod disni_resource_methods[] = {
    NATIVE("_allocPd", "(J)J", alloc_pd),
    NATIVE("_createCompChannel", "(J)J", create_comp_channel),
    NATIVE("_createCQ", "(JJII)J", create_cq),
    NATIVE("_modifyQP", "(JJ)I", modify_qp),
    NATIVE("_regMr", "(JJIIJJJ)J", reg_mr),
    NATIVE("_queryOdpSupport", "(J)I", query_odp_support),
    NATIVE("_expPrefetchMr", "(JJI)I", exp_prefetch_mr),
    NATIVE("_deregMr", "(J)V", dereg_mr),
    NATIVE("_postSend", "(JJ)V", post),
    NATIVE("_postRecv", "(JJ)V", post),
    NATIVE("_getCqEvent", "(JI)I", get_cq_event),
    NATIVE("_pollCQ", "(JIJ)I", poll_cq),
    NATIVE("_reqNotifyCQ", "(JI)I", req_notify_cq),
    NATIVE("_ackCqEvent", "(JI)I", ack_cq_event),
    NATIVE("_destroyCompChannel", "(J)I", destroy_comp_channel),
    NATIVE("_deallocPd", "(J)I", dealloc_pd),
    NATIVE("_destroyCQ", "(J)I", destroy_cq),
    NATIVE("_getQpNum", "(J)I", get_qp_num),
    NATIVE("_getContextFd", "(J)I", get_context_fd),
    NATIVE("_getContextNumCompVectors", "(J)I", get_context_num_comp_vectors),
    NATIVE("_getPdHandle", "(J)I", get_pd_handle),
    NATIVE("_getSockAddrInSize", "()I", get_address_size),
    NATIVE("_getIbvRecvWRSize", "()I", get_recv_wr_size),
    NATIVE("_getIbvSendWRSize", "()I", get_send_wr_size),
    NATIVE("_getIbvSgeSize", "()I", get_sge_size),
    NATIVE("_getIbvWCSize", "()I", get_wc_size),
    NATIVE("_getRemoteAddressOffset", "()I", get_remote_address_offset),
    NATIVE("_getRKeyOffset", "()I", get_rkey_offset),
    NATIVE("_getVersion", "()I", get_version),
};
const int disni_resource_method_count =
    (int)(sizeof(disni_resource_methods) / sizeof(disni_resource_methods[0]));
