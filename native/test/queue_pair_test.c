/* Operations, credits, order and failure of one connection, in one thread. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "pair.h"

enum { MANY = 64 };

static struct side a;
static struct side b;
static struct tako_shm_completion out[MANY];

static struct operation plain(uint8_t opcode, uint64_t id, uint32_t length)
{
	struct operation operation = write_with_immediate(id, length, 0);
	operation.opcode = opcode;
	operation.flags = TAKO_SIGNALED;
	return operation;
}

static void check_completion(int i, uint64_t id, uint8_t opcode, uint8_t status)
{
	CHECK(out[i].id == id);
	CHECK(out[i].status == status);
	CHECK(status != TAKO_SHM_SUCCESS || out[i].opcode == opcode);
}

static void should_move_bytes_both_ways(void)
{
	pair_create(&a, &b);
	memset(a.region, 7, 1000);
	struct operation write = plain(TAKO_SHM_OP_WRITE, 1, 1000);
	CHECK(side_post(&a, &write, 1) == TAKO_POST_DONE);
	CHECK(b.region[0] == 7 && b.region[999] == 7 && b.region[1000] == 0);
	memset(b.region, 9, 500);
	struct operation read = plain(TAKO_SHM_OP_READ, 2, 500);
	CHECK(side_post(&a, &read, 1) == TAKO_POST_DONE);
	CHECK(a.region[499] == 9 && a.region[500] == 7);
	CHECK(tako_cq_poll(a.cq, out, MANY) == 2);
	check_completion(0, 1, TAKO_SHM_OP_WRITE, TAKO_SHM_SUCCESS);
	check_completion(1, 2, TAKO_SHM_OP_READ, TAKO_SHM_SUCCESS);
	CHECK(out[1].byte_count == 500);
	CHECK(tako_cq_poll(a.cq, out, MANY) == 0);
}

static void should_deliver_immediates_in_order_round_the_ring(void)
{
	pair_create(&a, &b);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(tako_qp_post_receive(b.qp, 1000 + i) == 0);
		struct operation send = write_with_immediate(i, 8, (uint32_t)i);
		CHECK(side_post(&a, &send, 1) == TAKO_POST_DONE);
		CHECK(tako_cq_poll(b.cq, out, MANY) == 1);
		check_completion(0, 1000 + i, TAKO_SHM_OP_RECEIVE_IMMEDIATE, TAKO_SHM_SUCCESS);
		CHECK(out[0].immediate == i && out[0].byte_count == 8 && out[0].slot == 70);
	}
	CHECK(tako_cq_poll(a.cq, out, MANY) == 0);
}

static void should_refuse_more_than_the_receives_posted(void)
{
	pair_create(&a, &b);
	CHECK(tako_qp_post_receive(b.qp, 1) == 0);
	struct operation sends[3];
	for (uint32_t i = 0; i < 3; i++)
		sends[i] = write_with_immediate(i, 8, i);
	CHECK(side_post(&a, sends, 3) == TAKO_POST_FAILED + TAKO_SHM_RECEIVER_NOT_READY);
	CHECK(a.qp->state == TAKO_SHM_ERROR);
	CHECK(tako_cq_poll(a.cq, out, MANY) == 2);
	check_completion(0, 1, 0, TAKO_SHM_RECEIVER_NOT_READY);
	check_completion(1, 2, 0, TAKO_SHM_FLUSHED);
	CHECK(tako_cq_poll(b.cq, out, MANY) == 1);
	CHECK(out[0].immediate == 0 && out[0].status == TAKO_SHM_SUCCESS);
	CHECK(b.qp->state == TAKO_SHM_CONNECTED);
}

static void should_bound_posted_receives(void)
{
	pair_create(&a, &b);
	for (uint64_t i = 0; i < PAIR_DEPTH; i++)
		CHECK(tako_qp_post_receive(b.qp, i) == 0);
	CHECK(tako_qp_post_receive(b.qp, 99) == -ENOBUFS);
}

static void should_flush_receives_after_what_arrived(void)
{
	pair_create(&a, &b);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(tako_qp_post_receive(b.qp, i) == 0);
	struct operation send = write_with_immediate(0, 8, 77);
	CHECK(side_post(&a, &send, 1) == TAKO_POST_DONE);
	CHECK(tako_qp_fail(b.qp, TAKO_SHM_ERROR) == 1);
	CHECK(tako_qp_fail(b.qp, TAKO_SHM_ERROR) == 0);
	CHECK(tako_cq_poll(b.cq, out, 2) == 2);
	check_completion(0, 0, TAKO_SHM_OP_RECEIVE_IMMEDIATE, TAKO_SHM_SUCCESS);
	check_completion(1, 1, 0, TAKO_SHM_FLUSHED);
	CHECK(tako_cq_poll(b.cq, out, MANY) == 2);
	check_completion(0, 2, 0, TAKO_SHM_FLUSHED);
	check_completion(1, 3, 0, TAKO_SHM_FLUSHED);
	CHECK(tako_qp_post_receive(b.qp, 4) == 0);
	CHECK(tako_cq_poll(b.cq, out, MANY) == 1);
	check_completion(0, 4, 0, TAKO_SHM_FLUSHED);

	CHECK(tako_qp_fail(b.qp, TAKO_SHM_CLOSED) == 1);
	CHECK(tako_cq_poll(b.cq, out, MANY) == 1);
	CHECK(out[0].opcode == TAKO_SHM_EVENT_DETACHED && out[0].slot == 70);
	CHECK(tako_cq_poll(b.cq, out, MANY) == 0);
}

static void should_flush_sends_in_error(void)
{
	pair_create(&a, &b);
	CHECK(tako_qp_fail(a.qp, TAKO_SHM_ERROR) == 1);
	struct operation writes[2] = {plain(TAKO_SHM_OP_WRITE, 1, 8),
				      plain(TAKO_SHM_OP_READ, 2, 8)};
	writes[0].flags = 0;
	a.region[0] = 5;
	CHECK(side_post(&a, writes, 2) == TAKO_POST_DONE);
	CHECK(b.region[0] == 0);
	CHECK(tako_cq_poll(a.cq, out, MANY) == 2);
	check_completion(0, 1, 0, TAKO_SHM_FLUSHED);
	check_completion(1, 2, 0, TAKO_SHM_FLUSHED);
}

static void expect_refused(struct operation operation)
{
	pair_create(&a, &b);
	memset(a.region, 1, 64);
	CHECK(side_post(&a, &operation, 1) == TAKO_POST_FAILED + TAKO_SHM_REMOTE_ACCESS_ERROR);
	for (int i = 0; i < PAIR_REGION; i++)
		CHECK(b.region[i] == 0);
}

static void should_refuse_keys_and_bounds(void)
{
	struct operation write = plain(TAKO_SHM_OP_WRITE, 1, 16);
	struct operation wrong = write;
	wrong.rkey = 0;
	expect_refused(wrong);
	wrong.rkey = PAIR_KEY + 1;
	expect_refused(wrong);
	wrong.rkey = PAIR_KEY + TAKO_SHM_EXPORTS;
	expect_refused(wrong);
	const uint64_t addresses[] = {0,
				      PAIR_ADDRESS - 1,
				      PAIR_ADDRESS - 16,
				      PAIR_ADDRESS + PAIR_REGION,
				      PAIR_ADDRESS + PAIR_REGION - 15,
				      UINT64_MAX,
				      UINT64_MAX - 15};
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		wrong = write;
		wrong.remote_address = addresses[i];
		expect_refused(wrong);
	}
	wrong = plain(TAKO_SHM_OP_FETCH_AND_ADD, 1, 8);
	wrong.remote_address = PAIR_ADDRESS + 4;
	expect_refused(wrong);
}

static void should_refuse_what_the_access_forbids(void)
{
	const uint8_t opcodes[] = {TAKO_SHM_OP_READ, TAKO_SHM_OP_WRITE, TAKO_SHM_OP_FETCH_AND_ADD};
	for (uint32_t access = 0; access <= 3; access++) {
		for (uint32_t i = 0; i < 3; i++) {
			pair_create(&a, &b);
			b.exports[PAIR_KEY % TAKO_SHM_EXPORTS].access = access;
			side_import(&a, &b);
			struct operation operation = plain(opcodes[i], 1, 8);
			int expected = i < access ? TAKO_POST_DONE
						  : TAKO_POST_FAILED + TAKO_SHM_REMOTE_ACCESS_ERROR;
			CHECK(side_post(&a, &operation, 1) == expected);
		}
	}
}

static void should_ask_for_a_mapping_and_go_on(void)
{
	pair_create(&a, &b);
	memset(a.imports, 0, TAKO_SHM_EXPORTS * sizeof(*a.imports));
	struct {
		struct tako_work work;
		struct tako_piece piece;
	} staged[2];
	memset(staged, 0, sizeof(staged));
	for (int i = 0; i < 2; i++) {
		staged[i].work = (struct tako_work){.id = (uint64_t)i,
						    .remote_address = PAIR_ADDRESS,
						    .rkey = PAIR_KEY,
						    .opcode = TAKO_SHM_OP_WRITE,
						    .flags = TAKO_SIGNALED,
						    .pieces = 1,
						    .length = 8};
		staged[i].piece.address = (uint64_t)(uintptr_t)a.region;
		staged[i].piece.length = 8;
	}
	staged[0].work.length = 0; /* needs no key */
	staged[0].piece.length = 0;
	CHECK(tako_qp_post(a.qp, staged, sizeof(staged)) == TAKO_POST_WANTS_MAPPING);
	CHECK(a.qp->wanted_rkey == PAIR_KEY);
	side_import(&a, &b);
	CHECK(tako_qp_post(a.qp, staged, sizeof(staged)) == TAKO_POST_DONE);
	CHECK(tako_cq_poll(a.cq, out, MANY) == 2);
	CHECK(out[0].id == 0 && out[1].id == 1);

	/* A region that is withdrawn is refused although it is still mapped. */
	b.exports[PAIR_KEY % TAKO_SHM_EXPORTS].rkey = 0;
	CHECK(tako_qp_post(a.qp, staged, sizeof(staged)) ==
	      TAKO_POST_FAILED + TAKO_SHM_REMOTE_ACCESS_ERROR);
}

static void should_do_atomics(void)
{
	pair_create(&a, &b);
	uint64_t *word = (uint64_t *)(void *)b.region;
	uint64_t *old = (uint64_t *)(void *)a.region;
	*word = 40;
	struct operation add = plain(TAKO_SHM_OP_FETCH_AND_ADD, 1, 8);
	add.operand = 2;
	CHECK(side_post(&a, &add, 1) == TAKO_POST_DONE);
	CHECK(*word == 42 && *old == 40);
	struct operation swap = plain(TAKO_SHM_OP_COMPARE_AND_SWAP, 2, 8);
	swap.operand = 41;
	swap.desired = 1;
	CHECK(side_post(&a, &swap, 1) == TAKO_POST_DONE);
	CHECK(*word == 42 && *old == 42);
	swap.operand = 42;
	CHECK(side_post(&a, &swap, 1) == TAKO_POST_DONE);
	CHECK(*word == 1 && *old == 42);
	struct operation narrow = plain(TAKO_SHM_OP_FETCH_AND_ADD, 3, 4);
	CHECK(side_post(&a, &narrow, 1) == TAKO_POST_FAILED + TAKO_SHM_LOCAL_ACCESS_ERROR);
}

static void should_end_a_peer_that_ignores_its_credits(void)
{
	pair_create(&a, &b);
	CHECK(tako_qp_post_receive(b.qp, 1) == 0);
	b.inbox->posted = 1000; /* the peer may write there: it grants itself credits */
	for (uint32_t i = 0; i < 2; i++) {
		struct operation send = write_with_immediate(i, 8, i);
		CHECK(side_post(&a, &send, 1) == TAKO_POST_DONE);
	}
	CHECK(tako_cq_poll(b.cq, out, MANY) == 2);
	CHECK(out[0].id == 1 && out[0].status == TAKO_SHM_SUCCESS);
	CHECK(out[1].opcode == TAKO_SHM_EVENT_FAILED);
	CHECK(b.qp->state == TAKO_SHM_ERROR);
}

int main(void)
{
	should_move_bytes_both_ways();
	should_deliver_immediates_in_order_round_the_ring();
	should_refuse_more_than_the_receives_posted();
	should_bound_posted_receives();
	should_flush_receives_after_what_arrived();
	should_flush_sends_in_error();
	should_refuse_keys_and_bounds();
	should_refuse_what_the_access_forbids();
	should_ask_for_a_mapping_and_go_on();
	should_do_atomics();
	should_end_a_peer_that_ignores_its_credits();
	return 0;
}
