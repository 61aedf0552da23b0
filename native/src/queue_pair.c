/*
 * Queue pairs: the initiator's CPU does the whole operation in the peer's mapped memory. Memory
 * that the peer can write (inboxes, exports) is read once, and each value is checked or masked
 * before its use.
 *
 * A pair that fails is taken from its peer's memory at any moment (tako_discard puts zeroes in its
 * place), also in the middle of a post. So `state` is looked at after the bytes were moved and
 * before anything is called done: it is set before the memory goes.
 *
 * The peer ends a pair at any moment, too, and then looks at what was written. It sets `revoked` in
 * its inbox and executes a full fence before it looks; this side stores, executes a full fence and
 * then loads `revoked`. So either the load finds it set, and nothing of the post counts, or the
 * peer sees every byte of it. No message would do: this thread can be stopped for any time between
 * its stores and its check. When the peer's process died, the next one sets `revoked` in its place,
 * in the file (Inbox.revokeAll).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "doorbell.h"
#include "tako/core.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

ALWAYS_INLINE bool is_connected(const struct tako_shm_queue_pair *qp)
{
	return __atomic_load_n(&qp->state, __ATOMIC_SEQ_CST) == TAKO_SHM_CONNECTED;
}

ALWAYS_INLINE const struct tako_piece *pieces_of(const struct tako_work *work)
{
	return (const struct tako_piece *)(work + 1);
}

ALWAYS_INLINE struct tako_shm_receive *receives_of(struct tako_shm_inbox *inbox)
{
	return (struct tako_shm_receive *)(inbox + 1);
}

static uint32_t size_of(const struct tako_work *work)
{
	return (uint32_t)(sizeof(*work) + work->pieces * sizeof(struct tako_piece));
}

/* ---- the peer's memory -------------------------------------------------------------------------
 */

enum { READ = 1, READ_WRITE = 2, ATOMIC = 3 }; /* values of shm_export.access */

static uint32_t access_needed(uint8_t opcode)
{
	if (opcode == TAKO_SHM_OP_READ)
		return READ;
	bool writes = opcode == TAKO_SHM_OP_WRITE || opcode == TAKO_SHM_OP_WRITE_WITH_IMMEDIATE;
	return writes ? READ_WRITE : ATOMIC;
}

/*
 * Finds the local address of a remote one. `peer_exports` is where the peer withdraws a region;
 * `imports` is what was checked when it was mapped, and what bounds are taken from.
 */
static int locate(const struct tako_shm_queue_pair *qp, const struct tako_work *work,
		  uint8_t **remote_p)
{
	uint32_t index = work->rkey % TAKO_SHM_EXPORTS;
	const struct tako_shm_import *import =
	    (const struct tako_shm_import *)pointer(qp->imports) + index;
	const struct tako_shm_export *exported =
	    (const struct tako_shm_export *)pointer(qp->peer_exports) + index;

	if (work->rkey == 0 || __atomic_load_n(&exported->rkey, __ATOMIC_ACQUIRE) != work->rkey)
		return TAKO_SHM_REMOTE_ACCESS_ERROR;
	if (__atomic_load_n(&import->rkey, __ATOMIC_ACQUIRE) != work->rkey)
		return -ENOENT;
	uint64_t offset = work->remote_address - import->address;
	if (work->remote_address < import->address || work->length > import->length ||
	    offset > import->length - work->length)
		return TAKO_SHM_REMOTE_ACCESS_ERROR;
	if (import->access < access_needed(work->opcode))
		return TAKO_SHM_REMOTE_ACCESS_ERROR;
	*remote_p = (uint8_t *)pointer(import->local) + offset;
	return TAKO_SHM_SUCCESS;
}

/* ---- one operation -----------------------------------------------------------------------------
 */

static void copy_out(const struct tako_work *work, uint8_t *remote)
{
	const struct tako_piece *piece = pieces_of(work);
	for (uint32_t i = 0; i < work->pieces; i++, piece++) {
		memcpy(remote, pointer(piece->address), piece->length);
		remote += piece->length;
	}
}

static void copy_in(const struct tako_work *work, const uint8_t *remote)
{
	const struct tako_piece *piece = pieces_of(work);
	for (uint32_t i = 0; i < work->pieces; i++, piece++) {
		memcpy(pointer(piece->address), remote, piece->length);
		remote += piece->length;
	}
}

/* The bytes were stored before: the release store of `sequence` publishes them too. */
static int send_immediate(struct tako_shm_queue_pair *qp, const struct tako_work *work)
{
	struct tako_shm_inbox *inbox = pointer(qp->peer_inbox);
	uint64_t index = qp->credits_used;
	/* The peer's line is looked at only when the credits known of are used up. */
	if (qp->credits_seen <= index)
		qp->credits_seen = __atomic_load_n(&inbox->posted, __ATOMIC_ACQUIRE);
	if (qp->credits_seen <= index)
		return TAKO_SHM_RECEIVER_NOT_READY;
	qp->credits_used = index + 1;

	struct tako_shm_receive *receive = receives_of(inbox) + (index & qp->peer_mask);
	receive->immediate = work->immediate;
	receive->byte_count = work->length;
	__atomic_store_n(&receive->sequence, (uint32_t)(index + 1), __ATOMIC_RELEASE);

	struct tako_shm_doorbell *doorbell = pointer(qp->peer_doorbell);
	tako_ready_set(&doorbell->summary, tako_ready_words(doorbell->ready), qp->peer_slot);
	tako_doorbell_wake(doorbell);
	return TAKO_SHM_SUCCESS;
}

static int execute_atomic(const struct tako_work *work, uint8_t *remote)
{
	if (work->length != sizeof(uint64_t))
		return TAKO_SHM_LOCAL_ACCESS_ERROR;
	if (((uintptr_t)remote & 7) != 0)
		return TAKO_SHM_REMOTE_ACCESS_ERROR;
	uint64_t *word = (uint64_t *)(void *)remote;
	uint64_t old = work->operand;
	if (work->opcode == TAKO_SHM_OP_FETCH_AND_ADD)
		old = __atomic_fetch_add(word, work->operand, __ATOMIC_SEQ_CST);
	else
		(void)__atomic_compare_exchange_n(word, &old, work->desired, false,
						  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	copy_in(work, (const uint8_t *)&old);
	return TAKO_SHM_SUCCESS;
}

/* Returns a status, or -ENOENT if the region has to be mapped first. */
static int execute(struct tako_shm_queue_pair *qp, const struct tako_work *work)
{
	if (work->status != TAKO_SHM_SUCCESS)
		return work->status;
	uint8_t *remote = NULL;
	bool is_copy = access_needed(work->opcode) != ATOMIC;
	/* Without bytes no memory is addressed, and the key is not looked at; as verbs have it. */
	if (work->length != 0 || !is_copy) {
		int status = locate(qp, work, &remote);
		if (status != TAKO_SHM_SUCCESS)
			return status;
	}
	switch (work->opcode) {
	case TAKO_SHM_OP_WRITE:
	case TAKO_SHM_OP_WRITE_WITH_IMMEDIATE:
		if (remote != NULL)
			copy_out(work, remote);
		return work->opcode == TAKO_SHM_OP_WRITE ? TAKO_SHM_SUCCESS
							 : send_immediate(qp, work);
	case TAKO_SHM_OP_READ:
		if (remote != NULL)
			copy_in(work, remote);
		return TAKO_SHM_SUCCESS;
	default:
		return execute_atomic(work, remote);
	}
}

/* ---- posting -----------------------------------------------------------------------------------
 */

/* Adds to the ring of send completions; `tail` is published by the caller. */
static void add_sent(struct tako_shm_queue_pair *qp, uint64_t *tail, const struct tako_work *work,
		     int status)
{
	struct tako_shm_sent *sent =
	    (struct tako_shm_sent *)pointer(qp->sent_ring) + (*tail & qp->sent_mask);
	sent->id = work->id;
	sent->byte_count = work->opcode == TAKO_SHM_OP_READ ? work->length : 0;
	sent->opcode = work->opcode;
	sent->status = (uint8_t)status;
	(*tail)++;
}

static void publish_sent(struct tako_shm_queue_pair *qp, uint64_t tail)
{
	if (tail == qp->sent_tail)
		return;
	__atomic_store_n(&qp->sent_tail, tail, __ATOMIC_RELEASE);
	tako_cq_notify(pointer(qp->send_queue), qp->send_slot);
}

/* Completes the work in [from, to) as flushed, after whatever `tail` says came before. */
static void flush(struct tako_shm_queue_pair *qp, uint64_t tail, const uint8_t *from,
		  const uint8_t *to)
{
	while (from < to) {
		const struct tako_work *work = (const struct tako_work *)(const void *)from;
		add_sent(qp, &tail, work, TAKO_SHM_FLUSHED);
		from += size_of(work);
	}
	publish_sent(qp, tail);
}

/* Whether the peer has ended the pair. After the bytes were stored, and a full fence. */
static bool is_revoked(const struct tako_shm_queue_pair *qp)
{
	const struct tako_shm_inbox *inbox = pointer(qp->peer_inbox);
	return __atomic_load_n(&inbox->revoked, __ATOMIC_SEQ_CST) != 0;
}

int tako_qp_post(struct tako_shm_queue_pair *qp, const void *staged, uint32_t bytes)
{
	const uint8_t *start = (const uint8_t *)staged + qp->resume_offset;
	const uint8_t *end = (const uint8_t *)staged + bytes;
	const uint8_t *at = start;
	uint64_t tail = qp->sent_tail;
	int status = TAKO_SHM_SUCCESS;
	qp->resume_offset = 0;

	while (at < end && is_connected(qp)) {
		const struct tako_work *work = (const struct tako_work *)(const void *)at;
		status = execute(qp, work);
		if (status != TAKO_SHM_SUCCESS)
			break;
		if ((work->flags & TAKO_SIGNALED) != 0)
			add_sent(qp, &tail, work, TAKO_SHM_SUCCESS);
		at += size_of(work);
	}

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	bool revoked = is_revoked(qp) && tako_qp_fail(qp, TAKO_SHM_ERROR) == 1;
	/*
	 * The memory may have been taken away while we used it, `revoked` with it: then nothing
	 * here counts, either.
	 */
	if (!is_connected(qp)) {
		flush(qp, qp->sent_tail, start, end);
		return revoked ? TAKO_POST_REVOKED : TAKO_POST_DONE;
	}
	if (status == TAKO_SHM_SUCCESS) {
		publish_sent(qp, tail);
		return TAKO_POST_DONE;
	}
	const struct tako_work *work = (const struct tako_work *)(const void *)at;
	if (status == -ENOENT) {
		publish_sent(qp, tail);
		qp->resume_offset = (uint32_t)(at - (const uint8_t *)staged);
		qp->wanted_rkey = work->rkey;
		return TAKO_POST_WANTS_MAPPING;
	}
	add_sent(qp, &tail, work, status);
	bool first = tako_qp_fail(qp, TAKO_SHM_ERROR) == 1;
	flush(qp, tail, at + size_of(work), end);
	return first ? TAKO_POST_FAILED + status : TAKO_POST_DONE;
}

int tako_qp_post_receive(struct tako_shm_queue_pair *qp, uint64_t id)
{
	uint64_t posted = qp->receives_posted;
	if (posted - __atomic_load_n(&qp->receives_done, __ATOMIC_ACQUIRE) > qp->receive_mask)
		return -ENOBUFS;
	((uint64_t *)pointer(qp->receive_ids))[posted & qp->receive_mask] = id;
	__atomic_store_n(&qp->receives_posted, posted + 1, __ATOMIC_SEQ_CST);
	struct tako_shm_inbox *inbox = pointer(qp->inbox);
	__atomic_store_n(&inbox->posted, posted + 1, __ATOMIC_RELEASE);
	/* In error nobody else rings for it. */
	if (!is_connected(qp))
		tako_cq_notify(pointer(qp->receive_queue), qp->receive_slot);
	return 0;
}

int tako_qp_fail(struct tako_shm_queue_pair *qp, uint32_t state)
{
	struct tako_shm_inbox *inbox = pointer(qp->inbox);
	__atomic_store_n(&inbox->revoked, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);

	uint32_t old = __atomic_load_n(&qp->state, __ATOMIC_SEQ_CST);
	do {
		if (old >= state)
			return 0;
	} while (!__atomic_compare_exchange_n(&qp->state, &old, state, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	tako_cq_notify(pointer(qp->receive_queue), qp->receive_slot);
	if (qp->send_queue != qp->receive_queue)
		tako_cq_notify(pointer(qp->send_queue), qp->send_slot);
	return 1;
}

/* ---- reporting (the polling thread) ------------------------------------------------------------
 */

static int drain_sends(struct tako_shm_queue_pair *qp, uint32_t slot,
		       struct tako_shm_completion *out, int max)
{
	uint64_t head = qp->sent_head;
	uint64_t tail = __atomic_load_n(&qp->sent_tail, __ATOMIC_ACQUIRE);
	const struct tako_shm_sent *ring = pointer(qp->sent_ring);
	int count = 0;
	for (; head != tail && count < max; head++, count++) {
		const struct tako_shm_sent *sent = &ring[head & qp->sent_mask];
		out[count] = (struct tako_shm_completion){.id = sent->id,
							  .slot = slot,
							  .byte_count = sent->byte_count,
							  .opcode = sent->opcode,
							  .status = sent->status};
	}
	__atomic_store_n(&qp->sent_head, head, __ATOMIC_RELEASE);
	return count;
}

static struct tako_shm_completion received(const struct tako_shm_queue_pair *qp, uint32_t slot,
					   uint64_t index)
{
	return (struct tako_shm_completion){
	    .id = ((const uint64_t *)pointer(qp->receive_ids))[index & qp->receive_mask],
	    .slot = slot,
	    .opcode = TAKO_SHM_OP_RECEIVE_IMMEDIATE};
}

/*
 * Takes what the peer put into the inbox, at most as much as was posted. Only an entry with the
 * next sequence counts, so garbage in the inbox is either a message nobody sent or no message.
 */
static int drain_receives(struct tako_shm_queue_pair *qp, uint32_t slot,
			  struct tako_shm_completion *out, int max)
{
	/* Before the inbox: messages that the peer sent while connected are delivered, not flushed.
	 */
	bool connected = is_connected(qp);
	struct tako_shm_receive *ring = receives_of(pointer(qp->inbox));
	uint64_t posted = __atomic_load_n(&qp->receives_posted, __ATOMIC_SEQ_CST);
	uint64_t done = qp->receives_done;
	int count = 0;
	for (; done != posted && count < max; done++, count++) {
		struct tako_shm_receive *receive = &ring[done & qp->receive_mask];
		if (__atomic_load_n(&receive->sequence, __ATOMIC_ACQUIRE) != (uint32_t)(done + 1))
			break;
		out[count] = received(qp, slot, done);
		out[count].immediate = __atomic_load_n(&receive->immediate, __ATOMIC_RELAXED);
		out[count].byte_count = __atomic_load_n(&receive->byte_count, __ATOMIC_RELAXED);
	}
	for (; !connected && done != posted && count < max; done++, count++) {
		out[count] = received(qp, slot, done);
		out[count].status = TAKO_SHM_FLUSHED;
	}
	__atomic_store_n(&qp->receives_done, done, __ATOMIC_RELEASE);
	return count;
}

/*
 * Whether the peer put something where nothing was posted: it does not keep to its credits. The
 * entry is looked at first: one that was sent on a credit given since then is seen with its credit.
 */
static bool has_overrun(const struct tako_shm_queue_pair *qp)
{
	uint64_t done = qp->receives_done;
	struct tako_shm_receive *receive =
	    &receives_of(pointer(qp->inbox))[done & qp->receive_mask];
	return __atomic_load_n(&receive->sequence, __ATOMIC_ACQUIRE) == (uint32_t)(done + 1) &&
	       done == __atomic_load_n(&qp->receives_posted, __ATOMIC_SEQ_CST);
}

bool tako_qp_has_news(const struct tako_shm_queue_pair *qp)
{
	uint64_t done = __atomic_load_n(&qp->receives_done, __ATOMIC_RELAXED);
	struct tako_shm_receive *receive =
	    &receives_of(pointer(qp->inbox))[done & qp->receive_mask];
	return __atomic_load_n(&receive->sequence, __ATOMIC_ACQUIRE) == (uint32_t)(done + 1);
}

void tako_qp_prefetch(const struct tako_shm_queue_pair *qp)
{
	__builtin_prefetch(&qp->state);
	__builtin_prefetch(&qp->send_queue);
	__builtin_prefetch(&qp->credits_used, 1);
	__builtin_prefetch(&qp->sent_head, 1);
}

void tako_qp_prefetch_rings(const struct tako_shm_queue_pair *qp)
{
	uint64_t next = qp->receives_done & qp->receive_mask;
	struct tako_shm_inbox *inbox = pointer(qp->inbox);
	__builtin_prefetch(inbox, 1);
	__builtin_prefetch(&receives_of(inbox)[next]);
	__builtin_prefetch(&((const uint64_t *)pointer(qp->receive_ids))[next], 1);
}

static bool is_drained(const struct tako_shm_queue_pair *qp, bool sends, bool receives)
{
	bool sent = qp->sent_head == __atomic_load_n(&qp->sent_tail, __ATOMIC_ACQUIRE);
	bool done = qp->receives_done == __atomic_load_n(&qp->receives_posted, __ATOMIC_SEQ_CST);
	return (!sends || sent) && (!receives || done);
}

static struct tako_shm_completion event(uint32_t slot, uint8_t opcode)
{
	return (struct tako_shm_completion){.slot = slot, .opcode = opcode};
}

int tako_qp_drain(struct tako_shm_queue_pair *qp, struct tako_shm_completion_queue *cq,
		  uint32_t slot, struct tako_shm_completion *out, int max)
{
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_SEQ_CST);
	bool sends = pointer(qp->send_queue) == cq && qp->send_slot == slot;
	bool receives = pointer(qp->receive_queue) == cq && qp->receive_slot == slot;
	int count = 0;
	if (sends)
		count += drain_sends(qp, slot, out, max);
	if (receives)
		count += drain_receives(qp, slot, out + count, max - count);
	if (receives && count < max && has_overrun(qp) && tako_qp_fail(qp, TAKO_SHM_ERROR) == 1)
		out[count++] = event(slot, TAKO_SHM_EVENT_FAILED);
	if (state == TAKO_SHM_CLOSED && count < max && is_drained(qp, sends, receives)) {
		(void)tako_cq_attach(cq, slot, NULL);
		out[count++] = event(slot, TAKO_SHM_EVENT_DETACHED);
	}
	return count;
}
