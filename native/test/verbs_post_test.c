/* Posting: doorbells, signals, slots, inline, what must not be tried. */
#include <errno.h>

#include "check.h"
#include "verbs_fixture.h"

static struct queue queue;
static struct pair pair;

static void begin(void)
{
	queue_create(&queue, FIXTURE_RING, 0);
	pair_make(&pair, &queue, 5, 1);
}

static void end(void)
{
	pair_free(&pair);
	queue_destroy(&queue);
}

static void should_ring_once_for_a_batch(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 20, 21) == TAKO_VERBS_POSTED);
	CHECK(pair.device.doorbells == 1 && pair.device.send_count == 20);
	end();
}

static void should_signal_every_nth_and_the_last(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 20, 21) == TAKO_VERBS_POSTED);
	for (int i = 0; i < 20; i++) {
		bool signalled = (pair.device.sends[i].flags & IBV_SEND_SIGNALED) != 0;
		CHECK(signalled == (i == TAKO_VERBS_SIGNAL_EVERY - 1 || i == 19));
	}
	end();
}

static void should_give_slots_back_without_a_word(void)
{
	begin();
	CHECK(post_writes(&pair, 0, FIXTURE_DEPTH, FIXTURE_DEPTH + 1) == TAKO_VERBS_POSTED);
	CHECK(post_writes(&pair, 0, 1, 1) == -ENOBUFS);
	CHECK(outstanding(&pair) == FIXTURE_DEPTH);
	fake_succeed(&pair.device, TAKO_VERBS_SIGNAL_EVERY + 3);
	expect_nothing(&queue);
	CHECK(outstanding(&pair) == FIXTURE_DEPTH - TAKO_VERBS_SIGNAL_EVERY);
	fake_succeed(&pair.device, FIXTURE_DEPTH - TAKO_VERBS_SIGNAL_EVERY - 3);
	expect_nothing(&queue);
	CHECK(outstanding(&pair) == 0);
	end();
}

static void should_report_what_asked_for_it_round_the_ring(void)
{
	begin();
	for (uint64_t round = 0; round < 1000; round++) {
		CHECK(post_writes(&pair, round * 10, 9, 3) == TAKO_VERBS_POSTED);
		fake_succeed(&pair.device, 9);
		for (uint64_t i = 2; i < 9; i += 3)
			expect(&queue, round * 10 + i, TAKO_VERBS_SUCCESS);
		expect_nothing(&queue);
		CHECK(outstanding(&pair) == 0);
	}
	end();
}

static void should_translate_each_operation(void)
{
	begin();
	struct staged all[] = {
	    operation(TAKO_VERBS_OP_WRITE, 0, FIXTURE_INLINE, 0),
	    operation(TAKO_VERBS_OP_WRITE, 1, FIXTURE_INLINE + 1, 0),
	    operation(TAKO_VERBS_OP_WRITE_WITH_IMMEDIATE, 2, 0, 0),
	    operation(TAKO_VERBS_OP_READ, 3, 8, TAKO_SIGNALED),
	    operation(TAKO_VERBS_OP_COMPARE_AND_SWAP, 4, 8, 0),
	    operation(TAKO_VERBS_OP_FETCH_AND_ADD, 5, 8, 0),
	    operation(TAKO_VERBS_OP_BIND_WINDOW, 6, 0, 0),
	    operation(TAKO_VERBS_OP_INVALIDATE_WINDOW, 7, 0, 0),
	};
	all[2].work.immediate = 0x80000001;
	struct ibv_mw window = {.rkey = 0x100};
	all[6].work.operand = (uint64_t)(uintptr_t)&window;
	all[6].work.rkey = 0x101;
	all[6].work.pieces = 0;
	all[7].work.pieces = 0;
	CHECK(post(&pair, all, 8) == TAKO_VERBS_POSTED);
	const enum ibv_wr_opcode opcodes[] = {
	    IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE,	  IBV_WR_RDMA_WRITE_WITH_IMM,
	    IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	    IBV_WR_BIND_MW,    IBV_WR_LOCAL_INV};
	for (int i = 0; i < 8; i++) {
		CHECK(pair.device.sends[i].opcode == opcodes[i]);
		CHECK(((pair.device.sends[i].flags & IBV_SEND_INLINE) != 0) == (i == 0));
		CHECK(((pair.device.sends[i].flags & IBV_SEND_FENCE) != 0) == (i == 6));
	}
	CHECK(window.rkey == 0x101);
	CHECK(pair.device.sends[2].immediate == 0x80000001 && pair.device.sends[2].pieces == 0);
	fake_succeed(&pair.device, 8);
	struct tako_verbs_completion read = next(&queue);
	CHECK(read.id == 3 && read.opcode == TAKO_VERBS_OP_READ && read.byte_count == 8);
	CHECK(read.slot == 5);
	expect_nothing(&queue);
	end();
}

/* A batch reuses the work requests of the one before. */
static void should_bind_without_what_an_earlier_request_left(void)
{
	begin();
	struct staged ends[] = {operation(TAKO_VERBS_OP_INVALIDATE_WINDOW, 0, 0, 0)};
	ends[0].work.rkey = 0x101;
	ends[0].work.pieces = 0;
	CHECK(post(&pair, ends, 1) == TAKO_VERBS_POSTED);
	struct ibv_mw window = {.rkey = 0x101};
	struct staged begins[] = {operation(TAKO_VERBS_OP_BIND_WINDOW, 1, 0, 0)};
	begins[0].work.operand = (uint64_t)(uintptr_t)&window;
	begins[0].work.rkey = 0x102;
	begins[0].work.pieces = 0;
	CHECK(post(&pair, begins, 1) == TAKO_VERBS_POSTED);
	CHECK(pair.device.sends[1].opcode == IBV_WR_BIND_MW);
	CHECK((pair.device.sends[0].flags & pair.device.sends[1].flags & IBV_SEND_FENCE) != 0);
	CHECK(pair.device.sends[1].immediate == 0);
	fake_succeed(&pair.device, 2);
	end();
}

static void should_fail_at_what_must_not_be_tried(void)
{
	begin();
	struct staged all[] = {operation(TAKO_VERBS_OP_WRITE, 0, 8, TAKO_SIGNALED),
			       operation(TAKO_VERBS_OP_WRITE, 1, 0, 0),
			       operation(TAKO_VERBS_OP_WRITE, 2, 8, 0)};
	all[1].work.status = TAKO_VERBS_LOCAL_ACCESS_ERROR;
	all[1].work.pieces = 0;
	CHECK(post(&pair, all, 3) == TAKO_VERBS_POST_REFUSED);
	CHECK(pair.shared->state == TAKO_VERBS_ERROR && pair.device.state == IBV_QPS_ERR);
	expect(&queue, 0, TAKO_VERBS_FLUSHED);
	expect(&queue, 1, TAKO_VERBS_LOCAL_ACCESS_ERROR);
	expect(&queue, 2, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_keep_what_the_device_does_not_take(void)
{
	begin();
	pair.device.post_error = -ENOMEM;
	pair.device.posts_taken = 2;
	CHECK(post_writes(&pair, 0, 5, 1) == -ENOMEM);
	for (uint64_t id = 0; id < 5; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	CHECK(outstanding(&pair) == 0 && pair.shared->state == TAKO_VERBS_ERROR);
	end();
}

static void should_flush_posts_in_error(void)
{
	begin();
	const uint64_t ids[] = {70, 71};
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_ERROR) == 1);
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_ERROR) == 0);
	CHECK(post_writes(&pair, 10, 2, 3) == TAKO_VERBS_POSTED);
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 2) == 0);
	CHECK(pair.device.doorbells == 0 && pair.device.receive_calls == 0);
	expect(&queue, 10, TAKO_VERBS_FLUSHED);
	expect(&queue, 11, TAKO_VERBS_FLUSHED);
	expect(&queue, 70, TAKO_VERBS_FLUSHED);
	expect(&queue, 71, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_post_receives_in_batches(void)
{
	begin();
	uint64_t ids[FIXTURE_DEPTH];
	for (uint64_t i = 0; i < FIXTURE_DEPTH; i++)
		ids[i] = 100 + i;
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, FIXTURE_DEPTH) == 0);
	CHECK(pair.device.receive_calls == 1 && pair.device.receive_count == FIXTURE_DEPTH);
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 1) == -ENOBUFS);
	fake_deliver(&pair.device, 0xfffffff0, 12);
	struct tako_verbs_completion received = next(&queue);
	CHECK(received.id == 100 && received.immediate == 0xfffffff0);
	CHECK(received.byte_count == 12 && received.status == TAKO_VERBS_SUCCESS);
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 1) == 0);
	end();
}

static void should_keep_receives_the_device_does_not_take(void)
{
	begin();
	const uint64_t ids[] = {1, 2, 3};
	pair.device.post_error = -ENOMEM;
	pair.device.posts_taken = 1;
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 3) == -ENOMEM);
	for (uint64_t id = 1; id <= 3; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_refuse_a_depth_that_is_none(void)
{
	CHECK(tako_verbs_qp_size(TAKO_VERBS_QUEUE_DEPTH_MAX + 1, 1) == -EINVAL);
	CHECK(tako_verbs_qp_size(1, UINT32_MAX) == -EINVAL);
	CHECK(tako_verbs_qp_size(0, 0) > 0);
	CHECK(tako_verbs_window_allocate(&fake_ops, NULL) == -ENOMEM);
	CHECK(tako_verbs_window_free(&fake_ops, NULL) == -EBUSY);
}

int main(void)
{
	should_ring_once_for_a_batch();
	should_signal_every_nth_and_the_last();
	should_give_slots_back_without_a_word();
	should_report_what_asked_for_it_round_the_ring();
	should_translate_each_operation();
	should_bind_without_what_an_earlier_request_left();
	should_fail_at_what_must_not_be_tried();
	should_keep_what_the_device_does_not_take();
	should_flush_posts_in_error();
	should_post_receives_in_batches();
	should_keep_receives_the_device_does_not_take();
	should_refuse_a_depth_that_is_none();
	return 0;
}
