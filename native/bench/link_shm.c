/* Connections over the shm core. */
#include <string.h>

#include "link.h"
#include "tako/core.h"

enum {
	DEPTH = LINK_SENDS, /* a power of two */
	KEY = 1,	    /* of a side's one region, and its place in the tables */
	SPIN_NS = 20000,
	BATCH = 64
};

/* A queue pair, as compact as the core has it in one allocation. */
struct rings {
	struct tako_shm_queue_pair qp;
	struct tako_shm_inbox inbox;
	struct tako_shm_receive receives[DEPTH]; /* right after the inbox */
	uint64_t receive_ids[DEPTH];
	struct tako_shm_sent sent[DEPTH];
};

struct shm_side {
	struct tako_shm_completion_queue *cq;
	struct tako_shm_doorbell *doorbell;
	struct tako_shm_export *exports;
	struct tako_shm_import *imports;
	struct rings *rings;
	struct tako_shm_completion *completions;
};

static uint64_t address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static void create_pair(struct shm_side *side, uint32_t slot)
{
	struct rings *rings = &side->rings[slot];
	struct tako_shm_queue_pair *qp = &rings->qp;
	qp->imports = address(side->imports);
	qp->inbox = address(&rings->inbox);
	qp->receive_ids = address(rings->receive_ids);
	qp->sent_ring = address(rings->sent);
	qp->send_queue = address(side->cq);
	qp->receive_queue = address(side->cq);
	qp->receive_mask = DEPTH - 1;
	qp->sent_mask = DEPTH - 1;
	qp->send_slot = slot;
	qp->receive_slot = slot;
	require(tako_cq_attach(side->cq, slot, qp) == 0, "attaching a queue pair");
}

static void create_side(struct link *link, bool one_processor)
{
	struct shm_side *side = shared_memory(sizeof(*side));
	link->state = side;
	side->cq = shared_memory(sizeof(*side->cq));
	side->doorbell = shared_memory(sizeof(*side->doorbell));
	side->exports = shared_memory(TAKO_SHM_EXPORTS * sizeof(*side->exports));
	side->imports = shared_memory(TAKO_SHM_EXPORTS * sizeof(*side->imports));
	side->rings = shared_memory(link->connections * sizeof(*side->rings));
	side->completions = shared_memory(BATCH * sizeof(*side->completions));
	side->cq->doorbell = address(side->doorbell);
	side->cq->spin_ns = one_processor ? 0 : SPIN_NS;
	/* A region's address, as peers name it, is 0: remote addresses are offsets. */
	side->exports[KEY] = (struct tako_shm_export){
	    .rkey = KEY, .access = 2, .address = 0, .length = link->memory_size};
	for (uint32_t i = 0; i < link->connections; i++)
		create_pair(side, i);
}

static void connect_pairs(struct link *link, int control)
{
	(void)control; /* all of it is shared, and made before */
	struct shm_side *side = link->state;
	const struct shm_side *peer = link->peer->state;
	side->imports[KEY] = (struct tako_shm_import){.rkey = KEY,
						      .access = 2,
						      .address = 0,
						      .length = link->peer->memory_size,
						      .local = address(link->peer->memory)};
	for (uint32_t i = 0; i < link->connections; i++) {
		struct tako_shm_queue_pair *qp = &side->rings[i].qp;
		qp->peer_inbox = peer->rings[i].qp.inbox;
		qp->peer_doorbell = address(peer->doorbell);
		qp->peer_exports = address(peer->exports);
		qp->peer_mask = peer->rings[i].qp.receive_mask;
		qp->peer_slot = peer->rings[i].qp.receive_slot;
		for (int receive = 0; receive < DEPTH; receive++)
			require(tako_qp_post_receive(qp, i) == 0, "posting a receive");
	}
}

static void post(struct link *link, uint32_t connection, const struct link_operation *operations,
		 uint32_t count)
{
	struct {
		struct tako_work work;
		struct tako_piece piece;
	} staged[DEPTH];
	static const uint8_t opcodes[] = {TAKO_SHM_OP_WRITE, TAKO_SHM_OP_WRITE_WITH_IMMEDIATE,
					  TAKO_SHM_OP_READ};
	struct shm_side *side = link->state;
	for (uint32_t i = 0; i < count; i++) {
		const struct link_operation *operation = &operations[i];
		staged[i].work =
		    (struct tako_work){.remote_address = operation->remote,
				       .rkey = KEY,
				       .opcode = opcodes[operation->opcode],
				       .flags = operation->signaled ? TAKO_SIGNALED : 0,
				       .pieces = 1,
				       .length = operation->length};
		staged[i].piece =
		    (struct tako_piece){.address = address(link->memory + operation->local),
					.length = operation->length};
	}
	require(tako_qp_post(&side->rings[connection].qp, staged,
			     (uint32_t)((size_t)count * sizeof(staged[0]))) == TAKO_POST_DONE,
		"posting");
}

static void receive_again(struct link *link, uint32_t connection)
{
	struct shm_side *side = link->state;
	require(tako_qp_post_receive(&side->rings[connection].qp, connection) == 0,
		"posting a receive");
}

static uint32_t poll(struct link *link, struct link_event *events, uint32_t max)
{
	struct shm_side *side = link->state;
	int count = tako_cq_poll(side->cq, side->completions, (int)(max < BATCH ? max : BATCH));
	require(count >= 0, "polling");
	for (int i = 0; i < count; i++) {
		const struct tako_shm_completion *completion = &side->completions[i];
		require(completion->status == TAKO_SHM_SUCCESS, "an operation");
		events[i] = (struct link_event){.connection = completion->slot,
						.is_message = completion->opcode ==
							      TAKO_SHM_OP_RECEIVE_IMMEDIATE};
	}
	return (uint32_t)count;
}

static void await(struct link *link, int64_t timeout_ns)
{
	(void)tako_cq_await(((struct shm_side *)link->state)->cq, timeout_ns);
}

static const struct link_ops ops = {.connect = connect_pairs,
				    .post = post,
				    .receive_again = receive_again,
				    .poll = poll,
				    .await = await};

void link_shm_create(struct link sides[2], bool one_processor)
{
	for (int i = 0; i < 2; i++) {
		sides[i].ops = &ops;
		create_side(&sides[i], one_processor);
	}
}
