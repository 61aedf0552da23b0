/*
 * libibverbs as a device. Posts and polls are inline calls through the device's own
 * context; the few functions that are not inline are looked up in the library, which is therefore
 * no dependency of ours.
 */
#include "tako/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static struct {
	int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned count);
	int (*resize_cq)(struct ibv_cq *cq, int entries);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask);
} library;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static int loaded;

/* Verbs return a positive errno or -1 with errno set, depending on function and provider. */
static int result_of(int result)
{
	if (result == 0)
		return 0;
	int error = result > 0 ? result : errno;
	return error > 0 ? -error : -EIO;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return result_of(ibv_post_send(qp, wr, bad));
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return result_of(ibv_post_recv(qp, wr, bad));
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	int count = ibv_poll_cq(cq, max, wc);
	return count >= 0 ? count : -EIO;
}

static int req_notify_cq(struct ibv_cq *cq)
{
	return result_of(ibv_req_notify_cq(cq, 0));
}

static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	void *context;
	return result_of(library.get_cq_event(channel, cq, &context));
}

static void ack_cq_events(struct ibv_cq *cq, unsigned count)
{
	library.ack_cq_events(cq, count);
}

static int resize_cq(struct ibv_cq *cq, int entries)
{
	return result_of(library.resize_cq(cq, entries));
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask)
{
	return result_of(library.modify_qp(qp, attributes, mask));
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	return ibv_alloc_mw(pd, type);
}

static int dealloc_mw(struct ibv_mw *mw)
{
	return result_of(ibv_dealloc_mw(mw));
}

static const struct tako_device_ops ops = {
    .post_send = post_send,
    .post_recv = post_recv,
    .poll_cq = poll_cq,
    .req_notify_cq = req_notify_cq,
    .get_cq_event = get_cq_event,
    .ack_cq_events = ack_cq_events,
    .resize_cq = resize_cq,
    .modify_qp = modify_qp,
    .alloc_mw = alloc_mw,
    .dealloc_mw = dealloc_mw,
};

/* POSIX promises that a function's address fits what dlsym returns; ISO C has no cast for it. */
static int look_up(void *handle, const char *name, void *function)
{
	*(void **)function = dlsym(handle, name);
	return *(void **)function != NULL;
}

static void load(void)
{
	/* Never closed: queue pairs may be in use until the process ends. */
	void *handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (handle == NULL)
		return;
	loaded = look_up(handle, "ibv_get_cq_event", (void *)&library.get_cq_event) &&
		 look_up(handle, "ibv_ack_cq_events", (void *)&library.ack_cq_events) &&
		 look_up(handle, "ibv_resize_cq", (void *)&library.resize_cq) &&
		 look_up(handle, "ibv_modify_qp", (void *)&library.modify_qp);
}

const struct tako_device_ops *tako_device_ibverbs(void)
{
	(void)pthread_once(&load_once, load);
	return loaded ? &ops : NULL;
}
