/*
 * Completion queues: the device's completions go to a ring that Java reads; a thread with nothing
 * to do sleeps on the completion channel and on an eventfd of our own, through which others wake
 * it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum {
	POLL_BATCH = 32, /* completions taken from the device at once */
	PAUSES = 16	 /* between two looks at the device while spinning */
};

/* The longest await, so that the end of one can be computed: about a year. */
#define WAIT_MAX_NS (INT64_C(1) << 55)

int64_t tako_verbs_cq_size(void)
{
	return (int64_t)sizeof(struct tako_verbs_cq);
}

int tako_verbs_cq_init(struct tako_verbs_cq *cq, const struct tako_device_ops *ops,
		       struct ibv_cq *device_cq, struct ibv_comp_channel *channel,
		       struct tako_verbs_completion *ring, uint32_t ring_entries, uint32_t spin_ns)
{
	if (ring_entries == 0 || (ring_entries & (ring_entries - 1)) != 0)
		return -EINVAL;
	int flags = fcntl(channel->fd, F_GETFL);
	if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return -errno;
	cq->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cq->wake_fd < 0)
		return -errno;
	cq->shared.ring = (uint64_t)(uintptr_t)ring;
	cq->shared.ring_mask = ring_entries - 1;
	cq->shared.spin_ns = spin_ns;
	cq->spin.budget_ns = spin_ns;
	cq->ops = ops;
	cq->device_cq = device_cq;
	cq->channel = channel;
	return 0;
}

int tako_verbs_cq_close(struct tako_verbs_cq *cq)
{
	return close(cq->wake_fd) == 0 ? 0 : -errno;
}

int tako_verbs_cq_resize(struct tako_verbs_cq *cq, uint32_t entries)
{
	return entries <= INT32_MAX ? cq->ops->resize_cq(cq->device_cq, (int)entries) : -EINVAL;
}

/* ---- polling -----------------------------------------------------------------------------------
 */

static uint32_t filled(const struct tako_verbs_cq *cq)
{
	return cq->shared.tail - cq->shared.head;
}

uint32_t tako_verbs_cq_room(const struct tako_verbs_cq *cq)
{
	return cq->shared.ring_mask + 1 - filled(cq);
}

void tako_verbs_cq_add(struct tako_verbs_cq *cq, const struct tako_verbs_completion *completion)
{
	struct tako_verbs_completion *ring =
	    (struct tako_verbs_completion *)(uintptr_t)cq->shared.ring;
	ring[cq->shared.tail & cq->shared.ring_mask] = *completion;
	cq->shared.tail++;
}

static struct tako_verbs_qp *pair_of(struct tako_verbs_cq *cq, uint32_t slot)
{
	return __atomic_load_n(&cq->pairs[slot], __ATOMIC_ACQUIRE);
}

/* Takes one batch from the device, each completion of which adds at most one to the ring. */
static int take_batch(struct tako_verbs_cq *cq, uint32_t max)
{
	struct ibv_wc batch[POLL_BATCH];
	int count = cq->ops->poll_cq(cq->device_cq, (int)max, batch);
	for (int i = 0; i < count; i++) {
		struct tako_verbs_qp *qp = pair_of(cq, wr_slot(batch[i].wr_id));
		if (qp != NULL)
			tako_verbs_qp_complete(qp, cq, &batch[i]);
	}
	return count;
}

/*
 * Takes what the device has while there is room; true if nothing was left there. A batch that is
 * not full ends the taking, unless `all` is wanted: some devices return less than they have.
 */
static bool take(struct tako_verbs_cq *cq, bool all)
{
	while (!cq->lost) {
		uint32_t room = tako_verbs_cq_room(cq);
		uint32_t max = room < POLL_BATCH ? room : POLL_BATCH;
		if (max == 0)
			return false;
		int count = take_batch(cq, max);
		if (count < 0) {
			cq->lost = true;
			__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
		} else if (count == 0 || (!all && (uint32_t)count < max)) {
			return true;
		}
	}
	return true;
}

/* Completes what the device will not, of all queue pairs. */
static void sweep(struct tako_verbs_cq *cq)
{
	for (uint32_t slot = 0; slot < TAKO_VERBS_QUEUE_PAIRS; slot++) {
		struct tako_verbs_qp *qp = pair_of(cq, slot);
		if (qp != NULL && !tako_verbs_qp_sweep(qp, cq, slot, cq->lost)) {
			__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
			return;
		}
	}
}

static bool wants_attention(const struct tako_verbs_cq *cq)
{
	return __atomic_load_n(&cq->attention, __ATOMIC_SEQ_CST) != 0;
}

int tako_verbs_cq_poll(struct tako_verbs_cq *cq)
{
	bool taken_all = take(cq, false);
	if (taken_all && wants_attention(cq)) {
		/* Cleared first: requests from here on are served next time. */
		__atomic_store_n(&cq->attention, 0, __ATOMIC_SEQ_CST);
		if (take(cq, true))
			sweep(cq);
		else
			__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
	}
	return (int)filled(cq);
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static bool has_news(struct tako_verbs_cq *cq)
{
	return tako_verbs_cq_poll(cq) != 0 || __atomic_load_n(&cq->wakeup, __ATOMIC_SEQ_CST) != 0;
}

static bool spin(struct tako_verbs_cq *cq, int64_t ns)
{
	if (has_news(cq))
		return true;
	if (ns <= 0)
		return false;
	int64_t begin = now_ns();
	int64_t spent = 0;
	do {
		for (int i = 0; i < PAUSES; i++)
			pause_cpu();
		if (has_news(cq))
			return true;
		tako_spin_yield(spent, ns, cq->shared.spin_ns);
		spent = now_ns() - begin;
	} while (spent < ns);
	return false;
}

static bool spin_adaptively(struct tako_verbs_cq *cq, int64_t timeout)
{
	uint32_t ns = tako_spin_begin(&cq->spin, cq->shared.spin_ns);
	bool found = spin(cq, ns < timeout ? ns : timeout);
	tako_spin_end(&cq->spin, ns, cq->shared.spin_ns, found);
	return found;
}

/* Takes the one event that arming the queue has raised. */
static void take_event(struct tako_verbs_cq *cq)
{
	struct ibv_cq *source = NULL;
	if (cq->ops->get_cq_event(cq->channel, &source) != 0)
		return;
	cq->armed = false;
	cq->ops->ack_cq_events(cq->device_cq, 1);
}

/* Sleeps until something is readable or `ns` have passed; reads only what is. */
static void sleep_for(struct tako_verbs_cq *cq, int64_t ns)
{
	struct pollfd files[2] = {{.fd = cq->wake_fd, .events = POLLIN},
				  {.fd = cq->lost ? -1 : cq->channel->fd, .events = POLLIN}};
	const struct timespec timeout = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	cq->shared.sleeps++;
	if (ppoll(files, 2, &timeout, NULL) <= 0)
		return;
	if ((files[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
		cq->lost = true;
		__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
	}
	if ((files[1].revents & POLLIN) != 0)
		take_event(cq);
	if ((files[0].revents & POLLIN) != 0) {
		uint64_t wakes;
		(void)!read(cq->wake_fd, &wakes, sizeof(wakes));
	}
}

/* The queue is armed and then polled once more: completions before the arming raise no event. */
static void sleep_until(struct tako_verbs_cq *cq, int64_t end)
{
	for (;;) {
		int64_t left = end - now_ns();
		if (left <= 0)
			return;
		if (!cq->armed && !cq->lost) {
			cq->armed = cq->ops->req_notify_cq(cq->device_cq) == 0;
			cq->lost = !cq->armed;
			if (cq->lost)
				__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
		}
		__atomic_store_n(&cq->sleeping, 1, __ATOMIC_SEQ_CST);
		if (!has_news(cq) && !wants_attention(cq))
			sleep_for(cq, left);
		__atomic_store_n(&cq->sleeping, 0, __ATOMIC_SEQ_CST);
		if (has_news(cq))
			return;
	}
}

int tako_verbs_cq_await(struct tako_verbs_cq *cq, int64_t timeout_ns)
{
	int64_t timeout = timeout_ns < 0 ? 0 : timeout_ns;
	int64_t end = now_ns() + (timeout < WAIT_MAX_NS ? timeout : WAIT_MAX_NS);
	if (!spin_adaptively(cq, timeout))
		sleep_until(cq, end);
	return (int)__atomic_exchange_n(&cq->wakeup, 0, __ATOMIC_SEQ_CST);
}

static void wake(struct tako_verbs_cq *cq)
{
	const uint64_t one = 1;
	if (__atomic_load_n(&cq->sleeping, __ATOMIC_SEQ_CST) != 0)
		(void)!write(cq->wake_fd, &one, sizeof(one));
}

int tako_verbs_cq_wake(struct tako_verbs_cq *cq)
{
	__atomic_store_n(&cq->wakeup, 1, __ATOMIC_SEQ_CST);
	wake(cq);
	return 0;
}

void tako_verbs_cq_attend(struct tako_verbs_cq *cq)
{
	__atomic_store_n(&cq->attention, 1, __ATOMIC_SEQ_CST);
	wake(cq);
}
