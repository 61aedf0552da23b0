/*
 * The control path over verbs: functions that DiSNI lacks, for the Java side and for the natives
 * of DiSNI. Functions return 0 or more, or a negated errno. They touch no lock of ours; the Java
 * side says which of them may run beside each other.
 */
#ifndef TAKO_VERBS_CONTROL_H
#define TAKO_VERBS_CONTROL_H

#include <stdint.h>

#include <rdma/rdma_cma.h>

#include "tako/layout.h"

enum {
	TAKO_CM_ACCEPT_DATA_MAX = 196 /* bytes of private data in an accept */
};

/*
 * The context of every rdma_cm_id of ours has the parts of its last event that DiSNI
 * drops, and what it cannot pass to the calls that follow.
 */
struct tako_cm_slot {
	struct tako_verbs_event event;
	uint32_t max_sge; /* elements of a work request of the queue pair; 1 unless staged */
	uint32_t accept_length;
	uint8_t accept_data[TAKO_CM_ACCEPT_DATA_MAX];
};

int tako_cm_create_id(struct rdma_event_channel *channel, enum rdma_port_space space,
		      struct rdma_cm_id **id);

/* Also gives a slot to an identifier that came with a connection request. */
struct tako_cm_slot *tako_cm_slot(struct rdma_cm_id *id);

/* Waits for an event; EAGAIN when none came. The event is acknowledged: its parts are in the slot.
 */
int tako_cm_get_event(struct rdma_event_channel *channel, int timeout_ms,
		      struct rdma_cm_id **listener, struct rdma_cm_id **id);

/* Result of tako_cm_await: nothing (it was woken up, was interrupted or timed out), an event, or
 * that there will be no event any more. */
enum { TAKO_CM_NOTHING, TAKO_CM_EVENT, TAKO_CM_ENDED };

/* Waits until an event channel has an event or `wakeup` is readable; a negated errno on failure. */
int tako_cm_await(int channel, int wakeup, int timeout_ms);

int tako_cm_stage_pair(struct rdma_cm_id *id, uint32_t max_sge);
int tako_cm_stage_accept(struct rdma_cm_id *id, const void *data, uint32_t length);
int tako_cm_connect(struct rdma_cm_id *id, int retries, int rnr_retries, const void *data,
		    uint8_t length);
int tako_cm_accept(struct rdma_cm_id *id, int retries, int rnr_retries);
int tako_cm_destroy_id(struct rdma_cm_id *id);

/* Fills one record a port of every device; returns how many there are, which may be more than max.
 */
int tako_verbs_devices(struct tako_verbs_device *out, int max);

/* Fills the record of one port of an open device. */
int tako_verbs_query(struct ibv_context *context, uint8_t port, struct tako_verbs_device *out);

/* Registers a reserved huge page of `length` bytes and releases it, to find out whether that is
 * possible. */
int tako_verbs_register_huge_page(struct ibv_context *context, uint64_t length);

#endif
