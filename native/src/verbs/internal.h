/* State that queue pairs and completion queues share. */
#ifndef TAKO_VERBS_INTERNAL_H
#define TAKO_VERBS_INTERNAL_H

#include "spin.h"
#include "tako/verbs.h"

/* A send that was posted and not completed. */
struct sent {
	uint64_t id;
	uint32_t length; /* bytes read, for READ */
	uint8_t opcode;
	uint8_t flags;
	uint8_t status; /* what it completes with if the device never gets it */
	uint8_t reserved;
};

_Static_assert(sizeof(struct sent) == 16, "four to a cache line");

struct tako_verbs_qp {
	struct tako_verbs_queue_pair shared;

	const struct tako_device_ops *ops;
	struct ibv_qp *device_qp;
	struct tako_verbs_cq *send_queue;
	struct tako_verbs_cq *receive_queue;
	struct sent *sent;	 /* by index of the send */
	uint64_t *receive_ids;	 /* by index of the receive */
	struct ibv_send_wr *wrs; /* max_sends of them: the batch that is being posted */
	uint64_t send_prefix;	 /* wr_id of a send without its index */
	uint64_t receive_prefix;
	uint32_t sent_mask;
	uint32_t receive_mask;
	uint32_t max_sends;
	uint32_t max_receives;
	uint32_t inline_max;
	uint32_t send_slot;
	uint32_t receive_slot;

	/* From this index on the device gets nothing: the posting thread sets it once. */
	uint64_t sends_kept;
	uint64_t receives_kept;

	bool has_windows; /* the batch binds or invalidates some: the posting thread's */

	/* Whether a failed send, receive was reported: the polling threads'. */
	bool send_failed;
	bool receive_failed;
};

struct tako_verbs_cq {
	struct tako_verbs_completion_queue shared;

	const struct tako_device_ops *ops;
	struct ibv_cq *device_cq;
	struct ibv_comp_channel *channel;
	int wake_fd;

	uint32_t wakeup;    /* 1: the next await returns at once */
	uint32_t sleeping;  /* 1 while the polling thread sleeps, or is about to */
	uint32_t attention; /* 1: some queue pair has work that the device will not complete */

	/* The polling thread's. */
	bool armed; /* the next completion makes the channel readable, or has done so */
	bool lost;  /* the device is gone: nothing will come from it any more */
	struct tako_spin spin;

	struct tako_verbs_qp *pairs[TAKO_VERBS_QUEUE_PAIRS]; /* by slot */
};

/* ---- wr_id: is_receive:1 | slot:14 | generation:17 | low bits of the index:32 ------------------
 */

enum { WR_SLOT_SHIFT = 49, WR_GENERATION_SHIFT = 32 };

#define WR_RECEIVE (UINT64_C(1) << 63)
#define WR_SLOT_MASK UINT64_C(0x3fff)
#define WR_GENERATION_MASK UINT64_C(0x1ffff)

_Static_assert(TAKO_VERBS_QUEUE_PAIRS == 0x4000, "a slot fits its bits of a wr_id");

static inline uint64_t wr_prefix(bool receive, uint32_t slot, uint32_t generation)
{
	return (receive ? WR_RECEIVE : 0) | ((slot & WR_SLOT_MASK) << WR_SLOT_SHIFT) |
	       ((generation & WR_GENERATION_MASK) << WR_GENERATION_SHIFT);
}

static inline uint64_t wr_id(uint64_t prefix, uint64_t index)
{
	return prefix | (uint32_t)index;
}

static inline uint32_t wr_slot(uint64_t id)
{
	return (uint32_t)((id >> WR_SLOT_SHIFT) & WR_SLOT_MASK);
}

/* ---- between the two ---------------------------------------------------------------------------
 */

/* Has the device flush what was posted, or notes that it cannot; and says so to both queues. */
void tako_verbs_qp_flush(struct tako_verbs_qp *qp);

/* Asks the polling thread to look at what the device will not complete. Any thread. */
void tako_verbs_cq_attend(struct tako_verbs_cq *cq);

/* Adds to the ring, which has room. The polling thread. */
void tako_verbs_cq_add(struct tako_verbs_cq *cq, const struct tako_verbs_completion *completion);

/* Entries of the ring that are free. The polling thread. */
uint32_t tako_verbs_cq_room(const struct tako_verbs_cq *cq);

/* Takes a completion of the device, whoever it was for; adds at most one. */
void tako_verbs_qp_complete(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq,
			    const struct ibv_wc *wc);

/*
 * Completes what the device will not. `lost` says that it completes nothing any more. Returns false
 * when there was not enough room for all of it.
 */
bool tako_verbs_qp_sweep(struct tako_verbs_qp *qp, struct tako_verbs_cq *cq, uint32_t slot,
			 bool lost);

#endif
