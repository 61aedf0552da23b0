#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pair.h"

#include <string.h>
#include <sys/mman.h>

#include "check.h"

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	return memory;
}

static uint64_t address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

void side_create_queue(struct side *side, uint32_t spin_ns)
{
	side->cq = shared_memory(sizeof(*side->cq));
	side->doorbell = shared_memory(sizeof(*side->doorbell));
	side->cq->doorbell = address(side->doorbell);
	side->cq->spin_ns = spin_ns;
}

void side_create_pair(struct side *side, uint32_t slot)
{
	side->qp = shared_memory(sizeof(*side->qp));
	side->inbox =
	    shared_memory(sizeof(*side->inbox) + PAIR_DEPTH * sizeof(struct tako_shm_receive));
	side->exports = shared_memory(TAKO_SHM_EXPORTS * sizeof(*side->exports));
	side->imports = shared_memory(TAKO_SHM_EXPORTS * sizeof(*side->imports));
	side->region = shared_memory(PAIR_REGION);
	side->exports[PAIR_KEY % TAKO_SHM_EXPORTS] = (struct tako_shm_export){
	    .rkey = PAIR_KEY, .access = 3, .address = PAIR_ADDRESS, .length = PAIR_REGION};

	struct tako_shm_queue_pair *qp = side->qp;
	qp->imports = address(side->imports);
	qp->inbox = address(side->inbox);
	qp->receive_ids = address(shared_memory(PAIR_DEPTH * sizeof(uint64_t)));
	qp->sent_ring = address(shared_memory(PAIR_DEPTH * sizeof(struct tako_shm_sent)));
	qp->send_queue = address(side->cq);
	qp->receive_queue = address(side->cq);
	qp->receive_mask = PAIR_DEPTH - 1;
	qp->sent_mask = PAIR_DEPTH - 1;
	qp->send_slot = slot;
	qp->receive_slot = slot;
	CHECK(tako_cq_attach(side->cq, slot, qp) == 0);
}

static void connect_to(struct side *side, const struct side *peer)
{
	side->qp->peer_inbox = address(peer->inbox);
	side->qp->peer_doorbell = address(peer->doorbell);
	side->qp->peer_exports = address(peer->exports);
	side->qp->peer_mask = peer->qp->receive_mask;
	side->qp->peer_slot = peer->qp->receive_slot;
}

void sides_connect(struct side *a, struct side *b)
{
	connect_to(a, b);
	connect_to(b, a);
}

void side_import(struct side *side, const struct side *peer)
{
	const struct tako_shm_export *exported = &peer->exports[PAIR_KEY % TAKO_SHM_EXPORTS];
	side->imports[PAIR_KEY % TAKO_SHM_EXPORTS] =
	    (struct tako_shm_import){.rkey = PAIR_KEY,
				     .access = exported->access,
				     .address = PAIR_ADDRESS,
				     .length = PAIR_REGION,
				     .local = address(peer->region)};
}

void pair_create(struct side *a, struct side *b)
{
	side_create_queue(a, 20000);
	side_create_queue(b, 20000);
	side_create_pair(a, 5);
	side_create_pair(b, 70);
	sides_connect(a, b);
	side_import(a, b);
	side_import(b, a);
}

int side_post(struct side *side, const struct operation *operations, int count)
{
	struct {
		struct tako_work work;
		struct tako_piece piece;
	} staged[PAIR_DEPTH];
	CHECK(count <= PAIR_DEPTH);
	memset(staged, 0, sizeof(staged));
	for (int i = 0; i < count; i++) {
		const struct operation *operation = &operations[i];
		staged[i].work = (struct tako_work){.id = operation->id,
						    .remote_address = operation->remote_address,
						    .operand = operation->operand,
						    .desired = operation->desired,
						    .rkey = operation->rkey,
						    .immediate = operation->immediate,
						    .opcode = operation->opcode,
						    .flags = operation->flags,
						    .pieces = 1,
						    .length = operation->length};
		staged[i].piece.address = address(side->region);
		staged[i].piece.length = operation->length;
	}
	return tako_qp_post(side->qp, staged, (uint32_t)((size_t)count * sizeof(staged[0])));
}

struct operation write_with_immediate(uint64_t id, uint32_t length, uint32_t immediate)
{
	return (struct operation){.opcode = TAKO_SHM_OP_WRITE_WITH_IMMEDIATE,
				  .flags = 0,
				  .id = id,
				  .length = length,
				  .remote_address = PAIR_ADDRESS,
				  .rkey = PAIR_KEY,
				  .immediate = immediate};
}
