/*
 * An RDMA device that exists in the test only. Posts stay in its queues until the test lets them
 * succeed or fail; everything else behaves as verbs say, flushes included.
 */
#ifndef TAKO_TEST_FAKE_DEVICE_H
#define TAKO_TEST_FAKE_DEVICE_H

#include "tako/verbs.h"

enum { FAKE_DEPTH = 256 };

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_comp_channel channel;
	struct ibv_wc completions[FAKE_DEPTH];
	int count;
	int capacity;	/* as last resized */
	int short_poll; /* most that one poll returns; 0 for no limit */
	bool armed;
	bool gone; /* the device was removed */
	int acknowledged;
};

struct fake_post {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	int pieces;
	uint32_t immediate;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_cq *send_cq;
	struct fake_cq *receive_cq;
	struct fake_post sends[FAKE_DEPTH];
	int send_count;
	uint64_t receives[FAKE_DEPTH];
	int receive_count;
	enum ibv_qp_state state;
	int doorbells;	   /* calls of post_send */
	int receive_calls; /* of post_recv */
	int post_error;	   /* negative errno of the next posts */
	int posts_taken;   /* work requests taken before that */
	int modify_error;  /* negative errno of state changes */
	int reset_error;   /* of those to reset only */
};

extern const struct tako_device_ops fake_ops;

void fake_cq_init(struct fake_cq *cq);
void fake_cq_close(struct fake_cq *cq);
void fake_qp_init(struct fake_qp *qp, struct fake_cq *send_cq, struct fake_cq *receive_cq);

/* Lets the oldest `count` sends succeed. */
void fake_succeed(struct fake_qp *qp, int count);

/* Lets the oldest send fail, and the pair with it. */
void fake_fail(struct fake_qp *qp, enum ibv_wc_status status);

/* A write with immediate arrives. */
void fake_deliver(struct fake_qp *qp, uint32_t immediate, uint32_t length);

/* A completion of the test's own making. */
void fake_add(struct fake_cq *cq, struct ibv_wc wc);

#endif
