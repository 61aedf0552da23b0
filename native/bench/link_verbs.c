/* Connections over the verbs core: queue pairs of this host's device, to itself. */
#include <errno.h>

#include "link.h"
#include "send_receive.h"
#include "tako/verbs.h"
#include "tako/verbs_control.h"

enum {
	LINE = 64, /* bytes of a cache line */
	RECEIVES = 2,
	RING = 512,
	INLINE_MAX = 220, /* as the transport has it */
	SPIN_NS = 30000,
	RETRIES = 7,
	RETRY_TIMEOUT = 14, /* 4 us << 14, about 67 ms */
	RNR_TIMER = 1	    /* 10 us; there is always a receive */
};

/* The message from one side to the other when they connect. */
struct introduction {
	union ibv_gid gid;
	uint64_t memory;
	uint32_t rkey;
	uint32_t reserved;
};

struct verbs_side {
	struct introduction peer;
	uint32_t spin_ns;
	struct link_messages messages;
	uint64_t incoming; /* where messages land, of the first connection */

	struct tako_verbs_device facts;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *device_cq;
	struct ibv_qp **device_pairs;
	struct receive_buffer *buffers;
	struct tako_verbs_cq *cq;
	struct tako_verbs_qp **pairs;
	uint8_t *blocks; /* of the pairs, one after the other */
	const struct tako_device_ops *ops;
};

static size_t block_size(void)
{
	return ((size_t)tako_verbs_qp_size(LINK_SENDS, RECEIVES) + LINE - 1) / LINE * LINE;
}

static struct ibv_context *open_device(struct tako_verbs_device *facts)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	for (int i = 0; devices != NULL && i < count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);
		if (context != NULL && tako_verbs_query(context, 1, facts) == 0 &&
		    facts->port_state == IBV_PORT_ACTIVE && facts->gid_index >= 0)
			return context;
		if (context != NULL)
			ibv_close_device(context);
	}
	require(false, "finding an RDMA device with an active port");
	return NULL;
}

static void create_queue(struct verbs_side *side, uint32_t connections)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(side->context);
	require(channel != NULL, "making a completion channel");
	int entries = (int)(connections * (LINK_SENDS + RECEIVES));
	side->device_cq = ibv_create_cq(side->context, entries, NULL, channel, 0);
	require(side->device_cq != NULL, "making a completion queue");
	side->cq = shared_memory((size_t)tako_verbs_cq_size());
	require(tako_verbs_cq_init(side->cq, side->ops, side->device_cq, channel,
				   shared_memory(RING * sizeof(struct tako_verbs_completion)), RING,
				   side->spin_ns) == 0,
		"making a completion queue");
}

static void create_pair(struct link *link, uint32_t index)
{
	struct verbs_side *side = link->state;
	uint32_t inline_max =
	    side->facts.max_inline < INLINE_MAX ? side->facts.max_inline : INLINE_MAX;
	side->buffers[index] =
	    (struct receive_buffer){.address = (uint64_t)(uintptr_t)(link->memory + side->incoming +
								     index * side->messages.stride),
				    .length = side->messages.size,
				    .lkey = side->mr->lkey};
	struct ibv_qp_init_attr attributes = {.qp_context = &side->buffers[index],
					      .send_cq = side->device_cq,
					      .recv_cq = side->device_cq,
					      .qp_type = IBV_QPT_RC,
					      .cap = {.max_send_wr = LINK_SENDS,
						      .max_recv_wr = RECEIVES,
						      .max_send_sge = 1,
						      .max_recv_sge = 1,
						      .max_inline_data = inline_max}};
	struct ibv_qp *device_qp = ibv_create_qp(side->pd, &attributes);
	require(device_qp != NULL, "making a queue pair");
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .port_num = (uint8_t)side->facts.port,
				   .qp_access_flags =
				       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	require(ibv_modify_qp(device_qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  IBV_QP_ACCESS_FLAGS) == 0,
		"moving a queue pair to INIT");
	side->device_pairs[index] = device_qp;
	side->pairs[index] = (struct tako_verbs_qp *)(void *)(side->blocks + index * block_size());
	const struct tako_verbs_qp_config config = {.ops = side->ops,
						    .device_qp = device_qp,
						    .send_queue = side->cq,
						    .receive_queue = side->cq,
						    .send_slot = index,
						    .receive_slot = index,
						    .max_sends = LINK_SENDS,
						    .max_receives = RECEIVES,
						    .inline_max = inline_max};
	require(tako_verbs_qp_init(side->pairs[index], &config) == 0, "making a queue pair");
}

static void receive_again(struct link *link, uint32_t connection)
{
	struct verbs_side *side = link->state;
	const uint64_t id = connection;
	require(tako_verbs_qp_post_receives(side->pairs[connection], &id, 1) == 0,
		"posting a receive");
}

static void open_side(struct link *link, struct introduction *own)
{
	struct verbs_side *side = link->state;
	uint32_t count = link->connections;
	side->context = open_device(&side->facts);
	const struct tako_device_ops *device = tako_device_ibverbs();
	require(device != NULL, "loading libibverbs");
	side->ops = side->messages.sent ? send_receive_ops(device) : device;
	side->pd = ibv_alloc_pd(side->context);
	require(side->pd != NULL, "making a protection domain");
	side->mr =
	    ibv_reg_mr(side->pd, link->memory, link->memory_size,
		       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	require(side->mr != NULL, "registering memory");
	require(ibv_query_gid(side->context, (uint8_t)side->facts.port, side->facts.gid_index,
			      &own->gid) == 0,
		"looking up the address");
	own->memory = (uint64_t)(uintptr_t)link->memory;
	own->rkey = side->mr->rkey;
	create_queue(side, count);
	side->device_pairs = shared_memory(count * sizeof(side->device_pairs[0]));
	side->buffers = shared_memory(count * sizeof(side->buffers[0]));
	side->pairs = shared_memory(count * sizeof(side->pairs[0]));
	side->blocks = shared_memory(count * block_size());
	for (uint32_t i = 0; i < count; i++)
		create_pair(link, i);
}

static void ready_to_receive(const struct verbs_side *side, uint32_t peer_number, uint32_t index)
{
	struct ibv_qp_attr attributes = {
	    .qp_state = IBV_QPS_RTR,
	    .path_mtu = IBV_MTU_1024,
	    .dest_qp_num = peer_number,
	    .max_dest_rd_atomic = LINK_SENDS,
	    .min_rnr_timer = RNR_TIMER,
	    .ah_attr = {.is_global = 1,
			.port_num = (uint8_t)side->facts.port,
			.grh = {.dgid = side->peer.gid,
				.sgid_index = (uint8_t)side->facts.gid_index,
				.hop_limit = 1}}};
	require(ibv_modify_qp(side->device_pairs[index], &attributes,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER) == 0,
		"moving a queue pair to RTR");
}

static void ready_to_send(const struct verbs_side *side, uint32_t index)
{
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTS,
					 .timeout = RETRY_TIMEOUT,
					 .retry_cnt = RETRIES,
					 .rnr_retry = RETRIES,
					 .max_rd_atomic = LINK_SENDS};
	require(ibv_modify_qp(side->device_pairs[index], &attributes,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
		"moving a queue pair to RTS");
}

static void connect_pairs(struct link *link, int control)
{
	struct verbs_side *side = link->state;
	struct introduction own = {0};
	open_side(link, &own);
	swap(control, &own, &side->peer, sizeof(own));
	for (uint32_t i = 0; i < link->connections; i++) {
		uint32_t peer_number = 0;
		swap(control, &side->device_pairs[i]->qp_num, &peer_number, sizeof(peer_number));
		ready_to_receive(side, peer_number, i);
		receive_again(link, i);
		ready_to_send(side, i);
	}
}

static void post(struct link *link, uint32_t connection, const struct link_operation *operations,
		 uint32_t count)
{
	struct {
		struct tako_work work;
		struct tako_piece piece;
	} staged[LINK_SENDS];
	static const uint8_t opcodes[] = {TAKO_VERBS_OP_WRITE, TAKO_VERBS_OP_WRITE_WITH_IMMEDIATE,
					  TAKO_VERBS_OP_READ};
	struct verbs_side *side = link->state;
	for (uint32_t i = 0; i < count; i++) {
		const struct link_operation *operation = &operations[i];
		staged[i].work =
		    (struct tako_work){.remote_address = side->peer.memory + operation->remote,
				       .rkey = side->peer.rkey,
				       .opcode = opcodes[operation->opcode],
				       .flags = operation->signaled ? TAKO_SIGNALED : 0,
				       .pieces = 1,
				       .length = operation->length};
		staged[i].piece = (struct tako_piece){.address = (uint64_t)(uintptr_t)link->memory +
								 operation->local,
						      .length = operation->length,
						      .lkey = side->mr->lkey};
	}
	int result = tako_verbs_qp_post(side->pairs[connection], staged, count);
	if (result == -ENOBUFS) {
		/* Silent sends are done, and nobody has looked. */
		(void)tako_verbs_cq_poll(side->cq);
		result = tako_verbs_qp_post(side->pairs[connection], staged, count);
	}
	require(result == TAKO_VERBS_POSTED, "posting");
}

static uint32_t poll(struct link *link, struct link_event *events, uint32_t max)
{
	struct verbs_side *side = link->state;
	struct tako_verbs_completion_queue *queue = (struct tako_verbs_completion_queue *)side->cq;
	const struct tako_verbs_completion *ring =
	    (const struct tako_verbs_completion *)(uintptr_t)queue->ring;
	if (queue->head == queue->tail)
		require(tako_verbs_cq_poll(side->cq) >= 0, "polling");
	uint32_t count = 0;
	while (count < max && queue->head != queue->tail) {
		const struct tako_verbs_completion *completion =
		    &ring[queue->head++ & queue->ring_mask];
		require(completion->status == TAKO_VERBS_SUCCESS, "an operation");
		events[count++] = (struct link_event){
		    .connection = completion->slot,
		    .is_message = completion->opcode == TAKO_VERBS_OP_RECEIVE_IMMEDIATE};
	}
	return count;
}

static void await(struct link *link, int64_t timeout_ns)
{
	(void)tako_verbs_cq_await(((struct verbs_side *)link->state)->cq, timeout_ns);
}

static const struct link_ops ops = {.connect = connect_pairs,
				    .post = post,
				    .receive_again = receive_again,
				    .poll = poll,
				    .await = await};

void link_verbs_create(struct link sides[2], bool one_processor,
		       const struct link_messages *messages)
{
	for (int i = 0; i < 2; i++) {
		struct verbs_side *side = shared_memory(sizeof(*side));
		side->spin_ns = one_processor ? 0 : SPIN_NS;
		side->messages = *messages;
		side->incoming = messages->incoming[i];
		sides[i].ops = &ops;
		sides[i].state = side;
	}
}
