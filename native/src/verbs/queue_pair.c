/* Queue pairs: their memory, their state, and how they leave the device. */
#include <errno.h>
#include <string.h>

#include "internal.h"

static uint32_t power_of_two(uint32_t at_least)
{
	uint32_t power = 1;
	while (power < at_least)
		power *= 2;
	return power;
}

static bool is_depth(uint32_t depth)
{
	return depth <= TAKO_VERBS_QUEUE_DEPTH_MAX;
}

int64_t tako_verbs_qp_size(uint32_t max_sends, uint32_t max_receives)
{
	if (!is_depth(max_sends) || !is_depth(max_receives))
		return -EINVAL;
	return (int64_t)(sizeof(struct tako_verbs_qp) + max_sends * sizeof(struct ibv_send_wr) +
			 power_of_two(max_sends) * sizeof(struct sent) +
			 power_of_two(max_receives) * sizeof(uint64_t));
}

static int check(const struct tako_verbs_qp_config *config)
{
	if (!is_depth(config->max_sends) || !is_depth(config->max_receives) ||
	    config->send_slot >= TAKO_VERBS_QUEUE_PAIRS ||
	    config->receive_slot >= TAKO_VERBS_QUEUE_PAIRS ||
	    (config->send_queue == config->receive_queue &&
	     config->send_slot != config->receive_slot))
		return -EINVAL;
	return 0;
}

static void attach(struct tako_verbs_cq *cq, uint32_t slot, struct tako_verbs_qp *qp)
{
	__atomic_store_n(&cq->pairs[slot], qp, __ATOMIC_RELEASE);
}

int tako_verbs_qp_init(struct tako_verbs_qp *qp, const struct tako_verbs_qp_config *config)
{
	int result = check(config);
	if (result != 0)
		return result;
	uint32_t sends = power_of_two(config->max_sends);
	qp->wrs = (struct ibv_send_wr *)(void *)(qp + 1);
	qp->sent = (struct sent *)(void *)(qp->wrs + config->max_sends);
	qp->receive_ids = (uint64_t *)(void *)(qp->sent + sends);
	qp->ops = config->ops;
	qp->device_qp = config->device_qp;
	qp->send_queue = config->send_queue;
	qp->receive_queue = config->receive_queue;
	qp->send_slot = config->send_slot;
	qp->receive_slot = config->receive_slot;
	qp->send_prefix = wr_prefix(false, config->send_slot, config->generation);
	qp->receive_prefix = wr_prefix(true, config->receive_slot, config->generation);
	qp->sent_mask = sends - 1;
	qp->receive_mask = power_of_two(config->max_receives) - 1;
	qp->max_sends = config->max_sends;
	qp->max_receives = config->max_receives;
	qp->inline_max = config->inline_max;
	qp->sends_kept = UINT64_MAX;
	qp->receives_kept = UINT64_MAX;
	attach(qp->send_queue, qp->send_slot, qp);
	attach(qp->receive_queue, qp->receive_slot, qp);
	return 0;
}

static int modify(struct tako_verbs_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attributes;
	memset(&attributes, 0, sizeof(attributes));
	attributes.qp_state = state;
	return qp->ops->modify_qp(qp->device_qp, &attributes, IBV_QP_STATE);
}

static bool is_ended(const struct tako_verbs_qp *qp)
{
	return __atomic_load_n(&qp->shared.ended, __ATOMIC_SEQ_CST) != 0;
}

static void set_ended(struct tako_verbs_qp *qp)
{
	__atomic_store_n(&qp->shared.ended, 1, __ATOMIC_SEQ_CST);
}

/* Whether the error is that of a removed device; any other may pass, and the pair goes on
 * meanwhile. */
static bool is_gone(int result)
{
	int error = result < 0 ? -result : result;
	return error == ENODEV || error == EIO;
}

void tako_verbs_qp_flush(struct tako_verbs_qp *qp)
{
	/* A device that is gone completes nothing any more. */
	if (!is_ended(qp) && is_gone(modify(qp, IBV_QPS_ERR)))
		set_ended(qp);
	tako_verbs_cq_attend(qp->send_queue);
	if (qp->receive_queue != qp->send_queue)
		tako_verbs_cq_attend(qp->receive_queue);
}

int tako_verbs_qp_fail(struct tako_verbs_qp *qp, uint32_t state)
{
	uint32_t old = __atomic_load_n(&qp->shared.state, __ATOMIC_SEQ_CST);
	do {
		if (old >= state)
			return 0;
	} while (!__atomic_compare_exchange_n(&qp->shared.state, &old, state, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	if (state == TAKO_VERBS_CLOSED)
		set_ended(qp);
	tako_verbs_qp_flush(qp);
	return 1;
}

int tako_verbs_qp_end(struct tako_verbs_qp *qp)
{
	(void)tako_verbs_qp_fail(qp, TAKO_VERBS_ERROR);
	if (is_ended(qp))
		return 0;
	/* Only in reset has the device forgotten what it had begun; in error it may still finish.
	 */
	int result = modify(qp, IBV_QPS_RESET);
	if (result == 0)
		set_ended(qp);
	/* If it was not reset, this finds out whether the device is there at all. */
	tako_verbs_qp_flush(qp);
	return is_ended(qp) ? 0 : result;
}

int64_t tako_verbs_window_allocate(const struct tako_device_ops *ops, struct ibv_pd *pd)
{
	struct ibv_mw *mw = ops->alloc_mw(pd, IBV_MW_TYPE_2);
	if (mw == NULL)
		return errno > 0 ? -errno : -ENOMEM;
	return (int64_t)(uintptr_t)mw;
}

int tako_verbs_window_free(const struct tako_device_ops *ops, struct ibv_mw *mw)
{
	return ops->dealloc_mw(mw);
}
