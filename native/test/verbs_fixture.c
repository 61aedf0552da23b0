#include "verbs_fixture.h"

#include <string.h>

#include "check.h"

void queue_create(struct queue *queue, uint32_t ring_entries, uint32_t spin_ns)
{
	fake_cq_init(&queue->device);
	queue->cq = calloc(1, (size_t)tako_verbs_cq_size());
	CHECK(queue->cq != NULL);
	queue->shared = (struct tako_verbs_completion_queue *)(void *)queue->cq;
	CHECK(tako_verbs_cq_init(queue->cq, &fake_ops, &queue->device.cq, &queue->device.channel,
				 queue->ring, ring_entries, spin_ns) == 0);
}

void queue_destroy(struct queue *queue)
{
	CHECK(tako_verbs_cq_close(queue->cq) == 0);
	fake_cq_close(&queue->device);
	free(queue->cq);
}

void pair_make(struct pair *pair, struct queue *queue, uint32_t slot, uint32_t generation)
{
	fake_qp_init(&pair->device, &queue->device, &queue->device);
	pair->qp = calloc(1, (size_t)tako_verbs_qp_size(FIXTURE_DEPTH, FIXTURE_DEPTH));
	CHECK(pair->qp != NULL);
	pair->shared = (struct tako_verbs_queue_pair *)(void *)pair->qp;
	pair->slot = slot;
	const struct tako_verbs_qp_config config = {.ops = &fake_ops,
						    .device_qp = &pair->device.qp,
						    .send_queue = queue->cq,
						    .receive_queue = queue->cq,
						    .send_slot = slot,
						    .receive_slot = slot,
						    .generation = generation,
						    .max_sends = FIXTURE_DEPTH,
						    .max_receives = FIXTURE_DEPTH,
						    .inline_max = FIXTURE_INLINE};
	CHECK(tako_verbs_qp_init(pair->qp, &config) == 0);
}

void pair_free(struct pair *pair)
{
	free(pair->qp);
}

struct staged operation(uint8_t opcode, uint64_t id, uint32_t length, uint8_t flags)
{
	struct staged staged;
	memset(&staged, 0, sizeof(staged));
	staged.work.id = id;
	staged.work.opcode = opcode;
	staged.work.flags = flags;
	staged.work.length = length;
	staged.work.pieces = 1;
	staged.piece.length = length;
	return staged;
}

int post(struct pair *pair, const struct staged *operations, uint32_t count)
{
	_Alignas(16) uint8_t bytes[FIXTURE_DEPTH * sizeof(struct staged)];
	size_t at = 0;
	CHECK(count <= FIXTURE_DEPTH);
	for (uint32_t i = 0; i < count; i++) {
		memcpy(bytes + at, &operations[i].work, sizeof(operations[i].work));
		at += sizeof(operations[i].work);
		if (operations[i].work.pieces == 0)
			continue;
		memcpy(bytes + at, &operations[i].piece, sizeof(operations[i].piece));
		at += sizeof(operations[i].piece);
	}
	return tako_verbs_qp_post(pair->qp, bytes, count);
}

int post_writes(struct pair *pair, uint64_t id, uint32_t count, uint32_t signal)
{
	struct staged writes[FIXTURE_DEPTH];
	for (uint32_t i = 0; i < count; i++)
		writes[i] = operation(TAKO_VERBS_OP_WRITE, id + i, 100,
				      (i + 1) % signal == 0 ? TAKO_SIGNALED : 0);
	return post(pair, writes, count);
}

struct tako_verbs_completion next(struct queue *queue)
{
	if (queue->shared->head == queue->shared->tail)
		CHECK(tako_verbs_cq_poll(queue->cq) > 0);
	return queue->ring[queue->shared->head++ & queue->shared->ring_mask];
}

void expect(struct queue *queue, uint64_t id, uint8_t status)
{
	struct tako_verbs_completion completion = next(queue);
	CHECK(completion.id == id);
	CHECK(completion.status == status);
}

void expect_nothing(struct queue *queue)
{
	CHECK(queue->shared->head == queue->shared->tail);
	CHECK(tako_verbs_cq_poll(queue->cq) == 0);
}

uint64_t outstanding(const struct pair *pair)
{
	return pair->shared->sent_tail - pair->shared->sent_head;
}
