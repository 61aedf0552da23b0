#include "send_receive.h"

static const struct tako_device_ops *device;
static struct tako_device_ops ops;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (struct ibv_send_wr *next = wr; next != NULL; next = next->next) {
		if (next->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
			next->opcode = IBV_WR_SEND_WITH_IMM;
	}
	return device->post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct receive_buffer *buffer = qp->qp_context;
	struct ibv_sge piece = {
	    .addr = buffer->address, .length = buffer->length, .lkey = buffer->lkey};
	for (struct ibv_recv_wr *next = wr; next != NULL; next = next->next) {
		next->sg_list = &piece;
		next->num_sge = 1;
	}
	return device->post_recv(qp, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	int count = device->poll_cq(cq, max, wc);
	for (int i = 0; i < count; i++) {
		if (wc[i].status == IBV_WC_SUCCESS && wc[i].opcode == IBV_WC_RECV)
			wc[i].opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	}
	return count;
}

const struct tako_device_ops *send_receive_ops(const struct tako_device_ops *under)
{
	device = under;
	ops = *under;
	ops.post_send = post_send;
	ops.post_recv = post_recv;
	ops.poll_cq = poll_cq;
	return &ops;
}
