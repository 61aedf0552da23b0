/*
 * The data path of the verbs transport: queue pairs and completion queues over objects that the
 * control path made. No Java in it.
 *
 * Every function returns at least 0, or -errno. Nothing here prints, exits, allocates or locks, and
 * system calls are only those of await, of wake (when somebody sleeps) and of state changes.
 *
 * Threads: one posts to a queue pair at a time, one polls a completion queue at a time; fail, end
 * and wake may be called by any. The caller excludes them all while it destroys the ibv_qp.
 */
#ifndef TAKO_VERBS_H
#define TAKO_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tako/device.h"
#include "tako/layout.h"

/* ---- completion queues (verbs/completion_queue.c) ----------------------------------------------
 */

struct tako_verbs_cq;

/* Bytes of a completion queue's block, zeroed before init and there as long as the queue. */
int64_t tako_verbs_cq_size(void);

/*
 * Makes a completion queue in `cq`. Completions go to `ring`, whose entries are a power of two;
 * `channel` serves this queue alone and its fd becomes non-blocking.
 */
int tako_verbs_cq_init(struct tako_verbs_cq *cq, const struct tako_device_ops *ops,
		       struct ibv_cq *device_cq, struct ibv_comp_channel *channel,
		       struct tako_verbs_completion *ring, uint32_t ring_entries, uint32_t spin_ns);

/* Closes the queue's own file descriptor; nobody may use the queue any more. */
int tako_verbs_cq_close(struct tako_verbs_cq *cq);

/* Makes room for `entries` completions in the device. Any thread. */
int tako_verbs_cq_resize(struct tako_verbs_cq *cq, uint32_t entries);

/* Puts completions into the ring while there are any and there is room; returns how many are in it.
 */
int tako_verbs_cq_poll(struct tako_verbs_cq *cq);

/*
 * Waits for something in the ring, tako_verbs_cq_wake, or `timeout_ns`; may return early. Spins
 * first, for as long as that has paid lately, then sleeps on the channel.
 */
int tako_verbs_cq_await(struct tako_verbs_cq *cq, int64_t timeout_ns);
int tako_verbs_cq_wake(struct tako_verbs_cq *cq);

/* ---- queue pairs (verbs/queue_pair.c) ----------------------------------------------------------
 */

struct tako_verbs_qp;

/* Arguments for a new queue pair. */
struct tako_verbs_qp_config {
	const struct tako_device_ops *ops;
	struct ibv_qp *device_qp;
	struct tako_verbs_cq *send_queue;
	struct tako_verbs_cq *receive_queue;
	uint32_t send_slot;    /* in send_queue; free */
	uint32_t receive_slot; /* in receive_queue; the same if the queues are the same */
	uint32_t generation;   /* tells the users of a slot apart */
	uint32_t max_sends;    /* at most what the device's queue takes */
	uint32_t max_receives; /* as well */
	uint32_t inline_max;   /* bytes the device takes with a send */
};

enum tako_verbs_post_result {
	TAKO_VERBS_POSTED = 0,
	TAKO_VERBS_POST_REFUSED = 1, /* an operation must not be tried: the pair went into error */
};

/* Bytes of a queue pair's block, zeroed before init and there until EVENT_DETACHED was polled. */
int64_t tako_verbs_qp_size(uint32_t max_sends, uint32_t max_receives);

/* Makes a queue pair in `qp` and puts it into the slots of its completion queues. */
int tako_verbs_qp_init(struct tako_verbs_qp *qp, const struct tako_verbs_qp_config *config);

/*
 * Posts `count` work records, each followed by its pieces, with one doorbell. In error they
 * are completed as flushed. One batch binds a window once at most. A negative result says why the
 * device took no more; the pair went into error by it. The caller keeps the number outstanding at
 * or below max_sends.
 */
int tako_verbs_qp_post(struct tako_verbs_qp *qp, const void *staged, uint32_t count);

/* Posts receives with one call of the device; -ENOBUFS if there is no room for all of them. */
int tako_verbs_qp_post_receives(struct tako_verbs_qp *qp, const uint64_t *ids, uint32_t count);

/*
 * Moves forward to VERBS_ERROR or VERBS_CLOSED, and the device's queue pair to its error state.
 * Returns 1 if that changed the state. Closed ones are detached once they have ended and all is
 * polled.
 */
int tako_verbs_qp_fail(struct tako_verbs_qp *qp, uint32_t state);

/*
 * Takes the queue pair from the device: once this returns nothing lands in or leaves memory through
 * it any more. Outstanding work completes as flushed, unless its completion was there before.
 */
int tako_verbs_qp_end(struct tako_verbs_qp *qp);

/* ---- memory windows ----------------------------------------------------------------------------
 */

/* A type 2B window as an ibv_mw, or -errno. */
int64_t tako_verbs_window_allocate(const struct tako_device_ops *ops, struct ibv_pd *pd);
int tako_verbs_window_free(const struct tako_device_ops *ops, struct ibv_mw *mw);

#endif
