/*
 * The operations of an RDMA device that the data path uses, as a table: libibverbs in earnest, a
 * fake in tests. Signatures and results are those of libibverbs, but for errors: every function
 * that can fail returns a negative errno.
 */
#ifndef TAKO_DEVICE_H
#define TAKO_DEVICE_H

#include <infiniband/verbs.h>

struct tako_device_ops {
	/* On failure `bad` is the first work request that the device did not take. */
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
	/* Returns how many completions it put into `wc`; may be fewer than there are. */
	int (*poll_cq)(struct ibv_cq *cq, int max, struct ibv_wc *wc);
	/* Makes the channel readable at the next completion that is added. */
	int (*req_notify_cq)(struct ibv_cq *cq);
	/* Takes one event from a non-blocking channel; -EAGAIN when there is none. */
	int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned count);
	/* Room for `entries` completions, while the queue is in use. */
	int (*resize_cq)(struct ibv_cq *cq, int entries);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask);
	/* NULL with errno set on failure. */
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	int (*dealloc_mw)(struct ibv_mw *mw);
};

/*
 * The table over libibverbs. The library is loaded now, so that a host without it misses the verbs
 * transport and nothing else; NULL if it is not there. Any thread.
 */
const struct tako_device_ops *tako_device_ibverbs(void);

#endif
