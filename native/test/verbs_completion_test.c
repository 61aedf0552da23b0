/* Completing: errors, flushes, order, many pairs, a full ring, a device that goes. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "verbs_fixture.h"

enum { PAIRS = 12 };

static struct queue queue;
static struct pair pair;

static void begin(void)
{
	queue_create(&queue, FIXTURE_RING, 0);
	pair_make(&pair, &queue, 0, 1);
}

static void end(void)
{
	pair_free(&pair);
	queue_destroy(&queue);
}

static void should_name_the_first_failure_and_flush_the_rest(enum ibv_wc_status cause,
							     uint8_t reported)
{
	begin();
	const uint64_t ids[] = {50, 51};
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 2) == 0);
	CHECK(post_writes(&pair, 0, 6, 2) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 2);
	fake_fail(&pair.device, cause);
	expect(&queue, 1, TAKO_VERBS_SUCCESS);
	struct tako_verbs_completion failure = next(&queue);
	CHECK(failure.id == 2 && failure.status == reported);
	CHECK(failure.device_status == cause && failure.vendor_error == 77);
	CHECK(failure.byte_count == 0 && failure.immediate == 0);
	CHECK(pair.shared->state == TAKO_VERBS_ERROR);
	for (uint64_t id = 3; id < 6; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect(&queue, 50, TAKO_VERBS_FLUSHED);
	expect(&queue, 51, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	CHECK(outstanding(&pair) == 0);
	end();
}

static void should_name_failures(void)
{
	const struct {
		enum ibv_wc_status cause;
		uint8_t reported;
	} all[] = {{IBV_WC_LOC_LEN_ERR, TAKO_VERBS_LOCAL_ACCESS_ERROR},
		   {IBV_WC_LOC_PROT_ERR, TAKO_VERBS_LOCAL_ACCESS_ERROR},
		   {IBV_WC_MW_BIND_ERR, TAKO_VERBS_LOCAL_ACCESS_ERROR},
		   {IBV_WC_REM_ACCESS_ERR, TAKO_VERBS_REMOTE_ACCESS_ERROR},
		   {IBV_WC_REM_INV_REQ_ERR, TAKO_VERBS_REMOTE_ACCESS_ERROR},
		   {IBV_WC_RNR_RETRY_EXC_ERR, TAKO_VERBS_RECEIVER_NOT_READY},
		   {IBV_WC_RETRY_EXC_ERR, TAKO_VERBS_RETRY_EXCEEDED},
		   {IBV_WC_FATAL_ERR, TAKO_VERBS_FLUSHED},
		   {IBV_WC_WR_FLUSH_ERR, TAKO_VERBS_FLUSHED}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		should_name_the_first_failure_and_flush_the_rest(all[i].cause, all[i].reported);
}

/* A device that reports two failures of one pair breaks no promise of ours. */
static void should_report_one_failure_only(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 2, 1) == TAKO_VERBS_POSTED);
	struct ibv_wc wc = {.wr_id = pair.device.sends[0].wr_id, .status = IBV_WC_REM_ACCESS_ERR};
	fake_add(&queue.device, wc);
	wc.wr_id = pair.device.sends[1].wr_id;
	fake_add(&queue.device, wc);
	fake_add(&queue.device, wc);
	pair.device.send_count = 0;
	expect(&queue, 0, TAKO_VERBS_REMOTE_ACCESS_ERROR);
	expect(&queue, 1, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_keep_pairs_apart_with_short_polls(void)
{
	static struct pair pairs[PAIRS];
	uint64_t seen[PAIRS] = {0};
	queue_create(&queue, 8, 0);
	queue.device.short_poll = 3;
	for (uint32_t i = 0; i < PAIRS; i++)
		pair_make(&pairs[i], &queue, i, i + 1);
	for (uint64_t round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < PAIRS; i++)
			CHECK(post_writes(&pairs[i], i * 1000 + round * 10, 10, 1) == 0);
		for (int step = 0; step < 10; step++)
			for (uint32_t i = 0; i < PAIRS; i++)
				fake_succeed(&pairs[i].device, 1);
		for (int taken = 0; taken < 10 * PAIRS; taken++) {
			struct tako_verbs_completion completion = next(&queue);
			CHECK(completion.slot < PAIRS && completion.status == TAKO_VERBS_SUCCESS);
			CHECK(completion.id == completion.slot * 1000 + seen[completion.slot]);
			seen[completion.slot]++;
		}
	}
	/* One fails; the others go on. */
	CHECK(post_writes(&pairs[3], 3500, 4, 1) == 0 && post_writes(&pairs[4], 4500, 4, 1) == 0);
	fake_fail(&pairs[3].device, IBV_WC_RETRY_EXC_ERR);
	fake_succeed(&pairs[4].device, 4);
	expect(&queue, 3500, TAKO_VERBS_RETRY_EXCEEDED);
	for (uint64_t id = 3501; id < 3504; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	for (uint64_t id = 4500; id < 4504; id++)
		expect(&queue, id, TAKO_VERBS_SUCCESS);
	expect_nothing(&queue);
	for (uint32_t i = 0; i < PAIRS; i++) {
		CHECK(pairs[i].shared->state ==
		      (i == 3 ? (uint32_t)TAKO_VERBS_ERROR : (uint32_t)TAKO_VERBS_CONNECTED));
		pair_free(&pairs[i]);
	}
	queue_destroy(&queue);
}

static void should_leave_in_the_device_what_the_ring_has_no_room_for(void)
{
	queue_create(&queue, 4, 0);
	pair_make(&pair, &queue, 0, 1);
	CHECK(post_writes(&pair, 0, 10, 1) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 10);
	CHECK(tako_verbs_cq_poll(queue.cq) == 4);
	CHECK(tako_verbs_cq_poll(queue.cq) == 4 && queue.device.count == 6);
	for (uint64_t id = 0; id < 10; id++)
		expect(&queue, id, TAKO_VERBS_SUCCESS);
	/* The same for what the device will never complete. */
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_ERROR) == 1);
	CHECK(post_writes(&pair, 0, 10, 1) == TAKO_VERBS_POSTED);
	for (uint64_t id = 0; id < 10; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_flush_what_was_outstanding_when_the_pair_left(void)
{
	begin();
	const uint64_t ids[] = {50, 51};
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 2) == 0);
	CHECK(post_writes(&pair, 0, 4, 1) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 1);
	fake_deliver(&pair.device, 9, 0);
	CHECK(tako_verbs_qp_end(pair.qp) == 0 && pair.device.state == IBV_QPS_RESET);
	CHECK(tako_verbs_qp_end(pair.qp) == 0);
	/* Earlier completions are reported unchanged. */
	expect(&queue, 0, TAKO_VERBS_SUCCESS);
	expect(&queue, 50, TAKO_VERBS_SUCCESS);
	for (uint64_t id = 1; id < 4; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect(&queue, 51, TAKO_VERBS_FLUSHED);
	CHECK(post_writes(&pair, 7, 1, 1) == TAKO_VERBS_POSTED && pair.device.doorbells == 1);
	expect(&queue, 7, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_take_all_the_device_has_before_it_flushes(void)
{
	begin();
	queue.device.short_poll = 1;
	CHECK(post_writes(&pair, 0, 5, 1) == TAKO_VERBS_POSTED);
	fake_succeed(&pair.device, 3);
	CHECK(tako_verbs_qp_end(pair.qp) == 0);
	for (uint64_t id = 0; id < 5; id++)
		expect(&queue, id,
		       id < 3 ? (uint8_t)TAKO_VERBS_SUCCESS : (uint8_t)TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

/* On some devices completions outlive their queue pair, and on some they do not. */
static void should_flush_without_the_device_and_ignore_it_later(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 3, 1) == TAKO_VERBS_POSTED);
	uint64_t late = pair.device.sends[1].wr_id;
	CHECK(tako_verbs_qp_end(pair.qp) == 0);
	queue.device.count = 0; /* the device dropped them */
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_CLOSED) == 1);
	for (uint64_t id = 0; id < 3; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	CHECK(next(&queue).opcode == TAKO_VERBS_EVENT_DETACHED);
	expect_nothing(&queue);
	fake_add(&queue.device, (struct ibv_wc){.wr_id = late, .status = IBV_WC_SUCCESS});
	expect_nothing(&queue);
	/* The next user of the slot is somebody else. */
	pair_free(&pair);
	pair_make(&pair, &queue, 0, 2);
	CHECK(post_writes(&pair, 100, 3, 1) == TAKO_VERBS_POSTED);
	fake_add(&queue.device, (struct ibv_wc){.wr_id = late, .status = IBV_WC_REM_ACCESS_ERR});
	expect_nothing(&queue);
	CHECK(pair.shared->state == TAKO_VERBS_CONNECTED && outstanding(&pair) == 3);
	end();
}

static void should_survive_the_removal_of_the_device(void)
{
	static struct pair other;
	begin();
	pair_make(&other, &queue, 1, 1);
	const uint64_t ids[] = {50};
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 1) == 0);
	CHECK(post_writes(&pair, 0, 3, 1) == TAKO_VERBS_POSTED);
	CHECK(post_writes(&other, 10, 1, 1) == TAKO_VERBS_POSTED);
	queue.device.gone = true;
	pair.device.modify_error = -EIO;
	pair.device.post_error = -EIO;
	other.device.modify_error = -EIO;
	for (uint64_t id = 0; id < 3; id++)
		expect(&queue, id, TAKO_VERBS_FLUSHED);
	expect(&queue, 50, TAKO_VERBS_FLUSHED);
	expect(&queue, 10, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	CHECK(other.shared->state == TAKO_VERBS_ERROR);
	CHECK(post_writes(&other, 11, 1, 1) == TAKO_VERBS_POSTED);
	CHECK(tako_verbs_cq_await(queue.cq, INT64_C(3600000000000)) == 0);
	expect(&queue, 11, TAKO_VERBS_FLUSHED);
	pair_free(&other);
	end();
}

/* A state change that fails must not leave posts that nobody completes. */
static void should_flush_when_the_device_cannot(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 2, 1) == TAKO_VERBS_POSTED);
	pair.device.modify_error = -EIO;
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_ERROR) == 1);
	expect(&queue, 0, TAKO_VERBS_FLUSHED);
	expect(&queue, 1, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

/* A pair that failed before can only be told to be over by what ends it. */
static void should_end_a_failed_pair_whose_device_was_removed(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 2, 1) == TAKO_VERBS_POSTED);
	CHECK(tako_verbs_qp_fail(pair.qp, TAKO_VERBS_ERROR) == 1);
	queue.device.count = 0; /* nothing completes any more */
	pair.device.modify_error = -EIO;
	CHECK(tako_verbs_qp_end(pair.qp) == 0);
	expect(&queue, 0, TAKO_VERBS_FLUSHED);
	expect(&queue, 1, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

/* A device that is there and does not reset the pair may still finish what it had begun. */
static void should_not_promise_the_end_of_a_pair_that_is_not_reset(void)
{
	begin();
	CHECK(post_writes(&pair, 0, 1, 1) == TAKO_VERBS_POSTED);
	pair.device.modify_error = -ENOMEM; /* not even into error: it goes on */
	CHECK(tako_verbs_qp_end(pair.qp) == -ENOMEM);
	CHECK(pair.device.state == IBV_QPS_RTS && pair.shared->ended == 0);
	pair.device.modify_error = 0;
	pair.device.reset_error = -ENOMEM;
	CHECK(tako_verbs_qp_end(pair.qp) == -ENOMEM);
	CHECK(tako_verbs_qp_end(pair.qp) == -ENOMEM);
	pair.device.reset_error = 0;
	CHECK(tako_verbs_qp_end(pair.qp) == 0 && pair.device.state == IBV_QPS_RESET);
	expect(&queue, 0, TAKO_VERBS_FLUSHED);
	expect_nothing(&queue);
	end();
}

static void should_end_a_pair_whose_peer_sends(void)
{
	begin();
	const uint64_t ids[] = {50};
	CHECK(tako_verbs_qp_post_receives(pair.qp, ids, 1) == 0);
	fake_add(&queue.device, (struct ibv_wc){.wr_id = pair.device.receives[0],
						.status = IBV_WC_SUCCESS,
						.opcode = IBV_WC_RECV});
	pair.device.receive_count = 0;
	expect(&queue, 50, TAKO_VERBS_FLUSHED);
	CHECK(pair.shared->state == TAKO_VERBS_ERROR);
	end();
}

static void should_count_beyond_what_a_wr_id_holds(void)
{
	begin();
	uint64_t start = (UINT64_C(1) << 32) - 5;
	pair.shared->sent_tail = start;
	pair.shared->sent_head = start;
	for (uint64_t round = 0; round < 5; round++) {
		CHECK(post_writes(&pair, round * 10, 4, 2) == TAKO_VERBS_POSTED);
		fake_succeed(&pair.device, 4);
		expect(&queue, round * 10 + 1, TAKO_VERBS_SUCCESS);
		expect(&queue, round * 10 + 3, TAKO_VERBS_SUCCESS);
		CHECK(outstanding(&pair) == 0);
	}
	end();
}

static void should_say_that_the_queue_cannot_grow(void)
{
	queue_create(&queue, FIXTURE_RING, 0);
	CHECK(tako_verbs_cq_resize(queue.cq, 100) == 0 && queue.device.capacity == 100);
	CHECK(tako_verbs_cq_resize(queue.cq, FAKE_DEPTH + 1) == -ENOMEM);
	CHECK(tako_verbs_cq_resize(queue.cq, UINT32_MAX) == -EINVAL);
	queue_destroy(&queue);
}

int main(void)
{
	should_name_failures();
	should_report_one_failure_only();
	should_keep_pairs_apart_with_short_polls();
	should_leave_in_the_device_what_the_ring_has_no_room_for();
	should_flush_what_was_outstanding_when_the_pair_left();
	should_take_all_the_device_has_before_it_flushes();
	should_flush_without_the_device_and_ignore_it_later();
	should_survive_the_removal_of_the_device();
	should_flush_when_the_device_cannot();
	should_end_a_failed_pair_whose_device_was_removed();
	should_not_promise_the_end_of_a_pair_that_is_not_reset();
	should_end_a_pair_whose_peer_sends();
	should_count_beyond_what_a_wr_id_holds();
	should_say_that_the_queue_cannot_grow();
	return 0;
}
