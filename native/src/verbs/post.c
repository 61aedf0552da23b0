/*
 * Posting. A send's index in the order of posting is its slot in the ring `sent` and the low half
 * of its wr_id, so one completion tells how all sends before it ended.
 *
 * State and posts are checked against each other without a lock: a poster looks at the state after
 * it posted, and whoever moves the state flushes afterwards. One of the two sees the other, so no
 * post stays in a device's queue that nobody flushes.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "internal.h"

_Static_assert(sizeof(struct ibv_sge) == TAKO_PIECE_SIZE &&
		   offsetof(struct ibv_sge, addr) == offsetof(struct tako_piece, address) &&
		   offsetof(struct ibv_sge, length) == offsetof(struct tako_piece, length) &&
		   offsetof(struct ibv_sge, lkey) == offsetof(struct tako_piece, lkey),
	       "a staged piece is handed to the device as it is");

static bool is_connected(const struct tako_verbs_qp *qp)
{
	return __atomic_load_n(&qp->shared.state, __ATOMIC_SEQ_CST) == TAKO_VERBS_CONNECTED;
}

static size_t size_of(const struct tako_work *work)
{
	return sizeof(*work) + work->pieces * sizeof(struct tako_piece);
}

/* Leaves out empty pieces: devices differ in the meaning of an element of length 0. */
static int gather(struct ibv_send_wr *wr, const struct tako_work *work)
{
	struct ibv_sge *pieces = (struct ibv_sge *)(uintptr_t)(work + 1);
	int count = 0;
	for (int i = 0; i < work->pieces; i++) {
		if (pieces[i].length != 0)
			pieces[count++] = pieces[i];
	}
	wr->sg_list = count != 0 ? pieces : NULL;
	return count;
}

static void aim(struct ibv_send_wr *wr, const struct tako_work *work, uint32_t inline_max)
{
	wr->wr.rdma.remote_addr = work->remote_address;
	wr->wr.rdma.rkey = work->rkey;
	if (work->opcode == TAKO_VERBS_OP_READ)
		wr->opcode = IBV_WR_RDMA_READ;
	else if (work->length != 0 && work->length <= inline_max)
		wr->send_flags |= IBV_SEND_INLINE;
}

static void aim_atomic(struct ibv_send_wr *wr, const struct tako_work *work)
{
	wr->wr.atomic.remote_addr = work->remote_address;
	wr->wr.atomic.rkey = work->rkey;
	wr->wr.atomic.compare_add = work->operand;
	wr->wr.atomic.swap = work->desired;
}

static void bind_window(struct ibv_send_wr *wr, const struct tako_work *work)
{
	wr->opcode = IBV_WR_BIND_MW;
	wr->bind_mw.mw = (struct ibv_mw *)(uintptr_t)work->operand;
	wr->bind_mw.rkey = work->rkey;
	wr->bind_mw.bind_info.mr = (struct ibv_mr *)(uintptr_t)work->desired;
	wr->bind_mw.bind_info.addr = work->remote_address;
	wr->bind_mw.bind_info.length = work->length;
	wr->bind_mw.bind_info.mw_access_flags = work->immediate;
}

/* False for an opcode that nobody stages. */
static bool build(struct tako_verbs_qp *qp, struct ibv_send_wr *wr, const struct tako_work *work)
{
	wr->next = wr + 1;
	wr->send_flags = 0;
	wr->imm_data = 0; /* devices refuse a binding that still has what an earlier request left */
	wr->num_sge = gather(wr, work);
	switch (work->opcode) {
	case TAKO_VERBS_OP_WRITE_WITH_IMMEDIATE:
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htonl(work->immediate);
		aim(wr, work, qp->inline_max);
		return true;
	case TAKO_VERBS_OP_WRITE:
	case TAKO_VERBS_OP_READ:
		wr->opcode = IBV_WR_RDMA_WRITE;
		aim(wr, work, qp->inline_max);
		return true;
	case TAKO_VERBS_OP_COMPARE_AND_SWAP:
	case TAKO_VERBS_OP_FETCH_AND_ADD:
		wr->opcode = work->opcode == TAKO_VERBS_OP_FETCH_AND_ADD
				 ? IBV_WR_ATOMIC_FETCH_AND_ADD
				 : IBV_WR_ATOMIC_CMP_AND_SWP;
		aim_atomic(wr, work);
		return true;
	case TAKO_VERBS_OP_BIND_WINDOW:
		bind_window(wr, work);
		qp->has_windows = true;
		return true;
	case TAKO_VERBS_OP_INVALIDATE_WINDOW:
		wr->opcode = IBV_WR_LOCAL_INV;
		wr->invalidate_rkey = work->rkey;
		qp->has_windows = true;
		return true;
	default:
		return false;
	}
}

static void remember(struct tako_verbs_qp *qp, uint64_t index, const struct tako_work *work)
{
	qp->sent[index & qp->sent_mask] =
	    (struct sent){.id = work->id,
			  .length = work->opcode == TAKO_VERBS_OP_READ ? work->length : 0,
			  .opcode = work->opcode,
			  .flags = work->flags,
			  .status = TAKO_VERBS_FLUSHED};
}

/*
 * Asks the device to report every n-th send of a batch and its last one, so that the slots of those
 * that the caller did not want to hear of come back too.
 */
static void signal_some(struct tako_verbs_qp *qp, uint64_t first, uint32_t count)
{
	uint32_t silent = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool asked = (qp->sent[(first + i) & qp->sent_mask].flags & TAKO_SIGNALED) != 0;
		if (asked || ++silent == TAKO_VERBS_SIGNAL_EVERY || i == count - 1) {
			qp->wrs[i].send_flags |= IBV_SEND_SIGNALED;
			silent = 0;
		}
	}
	qp->wrs[count - 1].next = NULL;
}

/* From `index` on the device gets nothing; the first time counts, or an earlier index. */
static void keep_from(uint64_t *kept, uint64_t index)
{
	if (index < *kept)
		__atomic_store_n(kept, index, __ATOMIC_SEQ_CST);
}

static bool is_on_window(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV;
}

/*
 * Operations on windows wait until the reads before them are done. The peer has no part in them,
 * yet soft-RoCE does them a second time, and fails, when it must send something before them again.
 * Of several in a row the first waits for all.
 */
static void fence_windows(struct tako_verbs_qp *qp, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (is_on_window(&qp->wrs[i]) && (i == 0 || !is_on_window(&qp->wrs[i - 1])))
			qp->wrs[i].send_flags |= IBV_SEND_FENCE;
	}
}

/*
 * Keeps the key in an ibv_mw what the device knows it by: providers read it there when the window
 * is bound again, and not all write it.
 */
static void note_bindings(struct tako_verbs_qp *qp, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (qp->wrs[i].opcode == IBV_WR_BIND_MW)
			qp->wrs[i].bind_mw.mw->rkey = qp->wrs[i].bind_mw.rkey;
	}
}

/* Hands `count` built work requests to the device; says why if it does not take all. */
static int submit(struct tako_verbs_qp *qp, uint64_t first, uint32_t count)
{
	struct ibv_send_wr *bad = qp->wrs;
	bool has_windows = qp->has_windows;
	qp->has_windows = false;
	signal_some(qp, first, count);
	if (has_windows)
		fence_windows(qp, count);
	qp->shared.doorbells++;
	int result = qp->ops->post_send(qp->device_qp, qp->wrs, &bad);
	if (result == 0) {
		if (has_windows)
			note_bindings(qp, count);
		return 0;
	}
	uint64_t taken = bad >= qp->wrs && bad < qp->wrs + count ? (uint64_t)(bad - qp->wrs) : 0;
	/* Later sends are flushed because of it, whatever their own faults. */
	for (uint64_t index = first + taken; index != qp->shared.sent_tail; index++)
		qp->sent[index & qp->sent_mask].status = TAKO_VERBS_FLUSHED;
	keep_from(&qp->sends_kept, first + taken);
	return result;
}

/*
 * Remembers `count` operations and builds work requests up to the first that must not be tried;
 * returns how many it built.
 */
static uint32_t prepare(struct tako_verbs_qp *qp, uint64_t first, const uint8_t *at, uint32_t count)
{
	uint32_t built = 0;
	bool refused = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct tako_work *work = (const struct tako_work *)(const void *)at;
		remember(qp, first + i, work);
		if (!refused) {
			struct ibv_send_wr *wr = &qp->wrs[i];
			refused = work->status != TAKO_VERBS_SUCCESS || !build(qp, wr, work);
			wr->wr_id = wr_id(qp->send_prefix, first + i);
			built += !refused;
			if (refused)
				qp->sent[(first + i) & qp->sent_mask].status =
				    TAKO_VERBS_LOCAL_ACCESS_ERROR;
		}
		at += size_of(work);
	}
	return built;
}

/* For a pair in error: everything is kept from the device. */
static void remember_all(struct tako_verbs_qp *qp, uint64_t first, const uint8_t *at,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct tako_work *work = (const struct tako_work *)(const void *)at;
		remember(qp, first + i, work);
		at += size_of(work);
	}
}

int tako_verbs_qp_post(struct tako_verbs_qp *qp, const void *staged, uint32_t count)
{
	uint64_t first = qp->shared.sent_tail;
	uint64_t outstanding = first - __atomic_load_n(&qp->shared.sent_head, __ATOMIC_ACQUIRE);
	if (outstanding + count > qp->max_sends)
		return -ENOBUFS;
	uint32_t built = 0;
	bool connected = is_connected(qp);
	if (connected)
		built = prepare(qp, first, staged, count);
	else
		remember_all(qp, first, staged, count);
	bool refused = connected && built != count;
	if (built != count)
		keep_from(&qp->sends_kept, first + built);
	/* Before the device has them: it may complete them at once. */
	__atomic_store_n(&qp->shared.sent_tail, first + count, __ATOMIC_RELEASE);

	int result = built != 0 ? submit(qp, first, built) : 0;
	if (result != 0 || refused)
		(void)tako_verbs_qp_fail(qp, TAKO_VERBS_ERROR);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_connected(qp))
		tako_verbs_qp_flush(qp);
	if (result != 0)
		return result;
	return refused ? TAKO_VERBS_POST_REFUSED : TAKO_VERBS_POSTED;
}

enum { RECEIVE_BATCH = 32 };

/* Receives take no bytes: immediates come with writes, which say where those go. */
static int submit_receives(struct tako_verbs_qp *qp, uint64_t first, uint32_t count)
{
	struct ibv_recv_wr wrs[RECEIVE_BATCH];
	for (uint32_t done = 0; done < count;) {
		uint32_t batch = count - done < RECEIVE_BATCH ? count - done : RECEIVE_BATCH;
		for (uint32_t i = 0; i < batch; i++)
			wrs[i] = (struct ibv_recv_wr){
			    .wr_id = wr_id(qp->receive_prefix, first + done + i),
			    .next = i + 1 < batch ? &wrs[i + 1] : NULL,
			};
		struct ibv_recv_wr *bad = wrs;
		int result = qp->ops->post_recv(qp->device_qp, wrs, &bad);
		if (result != 0) {
			uint64_t taken =
			    bad >= wrs && bad < wrs + batch ? (uint64_t)(bad - wrs) : 0;
			keep_from(&qp->receives_kept, first + done + taken);
			return result;
		}
		done += batch;
	}
	return 0;
}

int tako_verbs_qp_post_receives(struct tako_verbs_qp *qp, const uint64_t *ids, uint32_t count)
{
	uint64_t first = qp->shared.received_tail;
	uint64_t outstanding = first - __atomic_load_n(&qp->shared.received_head, __ATOMIC_ACQUIRE);
	if (outstanding + count > qp->max_receives)
		return -ENOBUFS;
	for (uint32_t i = 0; i < count; i++)
		qp->receive_ids[(first + i) & qp->receive_mask] = ids[i];
	bool connected = is_connected(qp);
	if (!connected)
		keep_from(&qp->receives_kept, first);
	__atomic_store_n(&qp->shared.received_tail, first + count, __ATOMIC_RELEASE);
	int result = connected ? submit_receives(qp, first, count) : 0;
	if (result != 0)
		(void)tako_verbs_qp_fail(qp, TAKO_VERBS_ERROR);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_connected(qp))
		tako_verbs_qp_flush(qp);
	return result;
}
