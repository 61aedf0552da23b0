#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fake_device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"

static struct fake_cq *cq_of(struct ibv_cq *cq)
{
	return (struct fake_cq *)(void *)cq;
}

static struct fake_qp *qp_of(struct ibv_qp *qp)
{
	return (struct fake_qp *)(void *)qp;
}

void fake_cq_init(struct fake_cq *cq)
{
	memset(cq, 0, sizeof(*cq));
	cq->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
	CHECK(cq->channel.fd >= 0);
}

void fake_cq_close(struct fake_cq *cq)
{
	CHECK(close(cq->channel.fd) == 0);
}

void fake_qp_init(struct fake_qp *qp, struct fake_cq *send_cq, struct fake_cq *receive_cq)
{
	memset(qp, 0, sizeof(*qp));
	qp->send_cq = send_cq;
	qp->receive_cq = receive_cq;
	qp->state = IBV_QPS_RTS;
}

void fake_add(struct fake_cq *cq, struct ibv_wc wc)
{
	const uint64_t one = 1;
	CHECK(cq->count < FAKE_DEPTH);
	cq->completions[cq->count++] = wc;
	if (cq->armed) {
		cq->armed = false;
		CHECK(write(cq->channel.fd, &one, sizeof(one)) == sizeof(one));
	}
}

static struct fake_post take_send(struct fake_qp *qp)
{
	CHECK(qp->send_count > 0);
	struct fake_post first = qp->sends[0];
	qp->send_count--;
	memmove(qp->sends, qp->sends + 1, (size_t)qp->send_count * sizeof(qp->sends[0]));
	return first;
}

static uint64_t take_receive(struct fake_qp *qp)
{
	CHECK(qp->receive_count > 0);
	uint64_t first = qp->receives[0];
	qp->receive_count--;
	memmove(qp->receives, qp->receives + 1,
		(size_t)qp->receive_count * sizeof(qp->receives[0]));
	return first;
}

/* On error only these fields are said to hold anything. */
static struct ibv_wc failed(uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;
	memset(&wc, 0xee, sizeof(wc));
	wc.wr_id = id;
	wc.status = status;
	wc.vendor_err = 77;
	return wc;
}

static void flush(struct fake_qp *qp)
{
	while (qp->send_count > 0)
		fake_add(qp->send_cq, failed(take_send(qp).wr_id, IBV_WC_WR_FLUSH_ERR));
	while (qp->receive_count > 0)
		fake_add(qp->receive_cq, failed(take_receive(qp), IBV_WC_WR_FLUSH_ERR));
}

void fake_succeed(struct fake_qp *qp, int count)
{
	for (int i = 0; i < count; i++) {
		struct fake_post post = take_send(qp);
		if ((post.flags & IBV_SEND_SIGNALED) != 0)
			fake_add(qp->send_cq,
				 (struct ibv_wc){.wr_id = post.wr_id, .status = IBV_WC_SUCCESS});
	}
}

void fake_fail(struct fake_qp *qp, enum ibv_wc_status status)
{
	fake_add(qp->send_cq, failed(take_send(qp).wr_id, status));
	qp->state = IBV_QPS_ERR;
	flush(qp);
}

void fake_deliver(struct fake_qp *qp, uint32_t immediate, uint32_t length)
{
	fake_add(qp->receive_cq, (struct ibv_wc){.wr_id = take_receive(qp),
						 .status = IBV_WC_SUCCESS,
						 .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
						 .byte_len = length,
						 .wc_flags = IBV_WC_WITH_IMM,
						 .imm_data = htonl(immediate)});
}

static bool refuses(struct fake_qp *qp)
{
	if (qp->post_error == 0)
		return false;
	return qp->posts_taken-- <= 0;
}

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = qp_of(base);
	qp->doorbells++;
	for (; wr != NULL; wr = wr->next) {
		if (refuses(qp)) {
			*bad = wr;
			return qp->post_error;
		}
		CHECK(qp->send_count < FAKE_DEPTH);
		qp->sends[qp->send_count++] = (struct fake_post){.wr_id = wr->wr_id,
								 .opcode = wr->opcode,
								 .flags = wr->send_flags,
								 .pieces = wr->num_sge,
								 .immediate = ntohl(wr->imm_data)};
	}
	if (qp->state == IBV_QPS_ERR)
		flush(qp);
	return 0;
}

static int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = qp_of(base);
	qp->receive_calls++;
	for (; wr != NULL; wr = wr->next) {
		if (refuses(qp)) {
			*bad = wr;
			return qp->post_error;
		}
		CHECK(qp->receive_count < FAKE_DEPTH && wr->num_sge == 0);
		qp->receives[qp->receive_count++] = wr->wr_id;
	}
	if (qp->state == IBV_QPS_ERR)
		flush(qp);
	return 0;
}

static int poll_cq(struct ibv_cq *base, int max, struct ibv_wc *wc)
{
	struct fake_cq *cq = cq_of(base);
	if (cq->gone)
		return -EIO;
	int count = cq->count < max ? cq->count : max;
	if (cq->short_poll != 0 && count > cq->short_poll)
		count = cq->short_poll;
	memcpy(wc, cq->completions, (size_t)count * sizeof(*wc));
	cq->count -= count;
	memmove(cq->completions, cq->completions + count, (size_t)cq->count * sizeof(*wc));
	return count;
}

static int req_notify_cq(struct ibv_cq *cq)
{
	cq_of(cq)->armed = true;
	return cq_of(cq)->gone ? -EIO : 0;
}

static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	uint64_t value;
	(void)cq;
	return read(channel->fd, &value, sizeof(value)) == sizeof(value) ? 0 : -errno;
}

static void ack_cq_events(struct ibv_cq *cq, unsigned count)
{
	cq_of(cq)->acknowledged += (int)count;
}

static int resize_cq(struct ibv_cq *cq, int entries)
{
	cq_of(cq)->capacity = entries;
	return entries > FAKE_DEPTH ? -ENOMEM : 0;
}

static int modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attributes, int mask)
{
	struct fake_qp *qp = qp_of(base);
	CHECK(mask == IBV_QP_STATE);
	if (qp->modify_error != 0)
		return qp->modify_error;
	if (qp->reset_error != 0 && attributes->qp_state == IBV_QPS_RESET)
		return qp->reset_error;
	qp->state = attributes->qp_state;
	if (qp->state == IBV_QPS_ERR)
		flush(qp);
	if (qp->state == IBV_QPS_RESET) {
		qp->send_count = 0;
		qp->receive_count = 0;
	}
	return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	(void)pd;
	(void)type;
	errno = ENOMEM;
	return NULL;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return -EBUSY;
}

const struct tako_device_ops fake_ops = {
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
