/* From what the device reports to what the caller was promised. All by the polling thread. */
#include <arpa/inet.h>

#include "internal.h"

/* Translates a device's status for the caller; FLUSHED also stands for an unknown effect. */
static uint8_t status_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return TAKO_VERBS_SUCCESS;
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_MW_BIND_ERR:
		return TAKO_VERBS_LOCAL_ACCESS_ERROR;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_INV_RD_REQ_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return TAKO_VERBS_REMOTE_ACCESS_ERROR;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return TAKO_VERBS_RECEIVER_NOT_READY;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return TAKO_VERBS_RETRY_EXCEEDED;
	default:
		return TAKO_VERBS_FLUSHED;
	}
}

/* The index that a wr_id is short for: the next one from `head` on that ends in the same bits. */
static uint64_t index_of(uint64_t head, uint64_t id)
{
	return head + (uint32_t)((uint32_t)id - (uint32_t)head);
}

/*
 * A failed one is reported by its cause if it is the first, else as flushed. The pair is
 * in error from here on.
 */
static uint8_t failure(struct tako_verbs_qp *qp, bool *failed, enum ibv_wc_status status)
{
	uint8_t reported = *failed ? (uint8_t)TAKO_VERBS_FLUSHED : status_of(status);
	*failed = true;
	(void)tako_verbs_qp_fail(qp, TAKO_VERBS_ERROR);
	return reported;
}

static void complete_send(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq,
			  const struct ibv_wc *wc)
{
	uint64_t index = index_of(qp->shared.sent_head, wc->wr_id);
	if (index >= __atomic_load_n(&qp->shared.sent_tail, __ATOMIC_ACQUIRE))
		return; /* flushed already, when the pair left the device */
	const struct sent *sent = &qp->sent[index & qp->sent_mask];
	bool succeeded = wc->status == IBV_WC_SUCCESS;
	if (!succeeded || (sent->flags & TAKO_SIGNALED) != 0) {
		struct tako_verbs_completion completion = {.id = sent->id,
							   .slot = qp->send_slot,
							   .byte_count = sent->length,
							   .opcode = sent->opcode};
		if (!succeeded) {
			completion.status = failure(qp, &qp->send_failed, wc->status);
			completion.byte_count = 0;
			completion.device_status = (uint16_t)wc->status;
			completion.vendor_error = wc->vendor_err;
			tako_verbs_cq_attend(cq);
		}
		tako_verbs_cq_add(cq, &completion);
	}
	/* Earlier unsignalled sends have succeeded: their slots are free as well. */
	__atomic_store_n(&qp->shared.sent_head, index + 1, __ATOMIC_RELEASE);
}

static void complete_receive(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq,
			     const struct ibv_wc *wc)
{
	uint64_t index = index_of(qp->shared.received_head, wc->wr_id);
	if (index >= __atomic_load_n(&qp->shared.received_tail, __ATOMIC_ACQUIRE))
		return;
	struct tako_verbs_completion completion = {.id = qp->receive_ids[index & qp->receive_mask],
						   .slot = qp->receive_slot,
						   .opcode = TAKO_VERBS_OP_RECEIVE_IMMEDIATE};
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		completion.byte_count = wc->byte_len;
		completion.immediate = ntohl(wc->imm_data);
	} else {
		/* A peer that sends instead of writing does not keep to the protocol: no success.
		 */
		completion.status =
		    failure(qp, &qp->receive_failed,
			    wc->status == IBV_WC_SUCCESS ? IBV_WC_WR_FLUSH_ERR : wc->status);
		completion.device_status = (uint16_t)wc->status;
		completion.vendor_error = wc->vendor_err;
		tako_verbs_cq_attend(cq);
	}
	tako_verbs_cq_add(cq, &completion);
	__atomic_store_n(&qp->shared.received_head, index + 1, __ATOMIC_RELEASE);
}

void tako_verbs_qp_complete(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq,
			    const struct ibv_wc *wc)
{
	/* Of an earlier user of the slot, whose completions outlived it in the device's queue? */
	uint64_t prefix = (wc->wr_id & WR_RECEIVE) != 0 ? qp->receive_prefix : qp->send_prefix;
	if ((wc->wr_id ^ prefix) >> WR_GENERATION_SHIFT != 0)
		return;
	if ((wc->wr_id & WR_RECEIVE) != 0)
		complete_receive(qp, cq, wc);
	else
		complete_send(qp, cq, wc);
}

static bool sweep_sends(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq, bool ended)
{
	uint64_t tail = __atomic_load_n(&qp->shared.sent_tail, __ATOMIC_SEQ_CST);
	uint64_t kept = __atomic_load_n(&qp->sends_kept, __ATOMIC_SEQ_CST);
	uint64_t head = qp->shared.sent_head;
	uint32_t room = tako_verbs_cq_room(cq);
	for (; head != tail && (ended || head >= kept) && room != 0; head++, room--) {
		const struct sent *sent = &qp->sent[head & qp->sent_mask];
		const struct tako_verbs_completion completion = {.id = sent->id,
								 .slot = qp->send_slot,
								 .opcode = sent->opcode,
								 .status = sent->status};
		tako_verbs_cq_add(cq, &completion);
		qp->send_failed = true;
	}
	__atomic_store_n(&qp->shared.sent_head, head, __ATOMIC_RELEASE);
	return room != 0;
}

static bool sweep_receives(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq, bool ended)
{
	uint64_t tail = __atomic_load_n(&qp->shared.received_tail, __ATOMIC_SEQ_CST);
	uint64_t kept = __atomic_load_n(&qp->receives_kept, __ATOMIC_SEQ_CST);
	uint64_t head = qp->shared.received_head;
	uint32_t room = tako_verbs_cq_room(cq);
	for (; head != tail && (ended || head >= kept) && room != 0; head++, room--) {
		const struct tako_verbs_completion completion = {
		    .id = qp->receive_ids[head & qp->receive_mask],
		    .slot = qp->receive_slot,
		    .opcode = TAKO_VERBS_OP_RECEIVE_IMMEDIATE,
		    .status = TAKO_VERBS_FLUSHED};
		tako_verbs_cq_add(cq, &completion);
		qp->receive_failed = true;
	}
	__atomic_store_n(&qp->shared.received_head, head, __ATOMIC_RELEASE);
	return room != 0;
}

bool tako_verbs_qp_sweep(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq, uint32_t slot,
			 bool lost)
{
	if (lost)
		(void)tako_verbs_qp_fail(qp, TAKO_VERBS_ERROR);
	uint32_t state = __atomic_load_n(&qp->shared.state, __ATOMIC_SEQ_CST);
	if (state == TAKO_VERBS_CONNECTED)
		return true;
	bool ended = lost || __atomic_load_n(&qp->shared.ended, __ATOMIC_SEQ_CST) != 0;
	if (qp->send_queue == cq && qp->send_slot == slot && !sweep_sends(qp, cq, ended))
		return false;
	if (qp->receive_queue == cq && qp->receive_slot == slot && !sweep_receives(qp, cq, ended))
		return false;
	if (state == TAKO_VERBS_CLOSED) {
		/* All of it is reported, and a closed pair gets no more: its memory may go. */
		if (tako_verbs_cq_room(cq) == 0)
			return false;
		__atomic_store_n(&cq->pairs[slot], NULL, __ATOMIC_RELEASE);
		const struct tako_verbs_completion detached = {.slot = slot,
							       .opcode = TAKO_VERBS_EVENT_DETACHED};
		tako_verbs_cq_add(cq, &detached);
	}
	return true;
}
