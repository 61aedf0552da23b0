/*
 * Completion queues. Each queue pair keeps its own rings; a completion queue only knows which of
 * them may have news: by the ready bits that peers set in its doorbell (shared, not trusted), and
 * by those that this process sets itself (private). As a peer can spoil the shared bits, of others
 * too, all queue pairs are looked at now and then whatever the bits say.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "doorbell.h"
#include "spin.h"
#include "tako/core.h"

/*
 * The longest sleep without a look at all queue pairs, which bounds the cost of a spoilt ready bit.
 * A test of wake-ups makes it long, so that a lost one is not made good.
 */
#ifndef TAKO_SLEEP_MAX_NS
#define TAKO_SLEEP_MAX_NS INT64_C(100000000)
#endif

/* The longest await, so that the end of one can be computed: about a year. */
#define WAIT_MAX_NS (INT64_C(1) << 55)

/* Polls without a look at all queue pairs; the same for a poller that never sleeps. */
#define POLLS_PER_SWEEP 16384

enum { PREFETCH_MAX = 32 };

static struct tako_shm_doorbell *doorbell_of(const struct tako_shm_completion_queue *cq)
{
	return (struct tako_shm_doorbell *)(uintptr_t)cq->doorbell;
}

static uint64_t *slot_of(struct tako_shm_completion_queue *cq, uint32_t slot)
{
	return (uint64_t *)(void *)cq->queue_pairs + slot;
}

int tako_cq_attach(struct tako_shm_completion_queue *cq, uint32_t slot,
		   struct tako_shm_queue_pair *qp)
{
	if (slot >= TAKO_SHM_QUEUE_PAIRS)
		return -EINVAL;
	__atomic_store_n(slot_of(cq, slot), (uint64_t)(uintptr_t)qp, __ATOMIC_RELEASE);
	return 0;
}

void tako_cq_notify(struct tako_shm_completion_queue *cq, uint32_t slot)
{
	tako_ready_set(&cq->summary, tako_ready_words(cq->ready), slot);
	tako_doorbell_wake(doorbell_of(cq));
}

static bool has_news(const struct tako_shm_completion_queue *cq)
{
	return __atomic_load_n(&doorbell_of(cq)->summary, __ATOMIC_SEQ_CST) != 0 ||
	       __atomic_load_n(&cq->summary, __ATOMIC_SEQ_CST) != 0 ||
	       __atomic_load_n(&cq->wakeup, __ATOMIC_SEQ_CST) != 0;
}

static struct tako_shm_queue_pair *pair_in(struct tako_shm_completion_queue *cq, uint32_t slot)
{
	return (struct tako_shm_queue_pair *)(uintptr_t)__atomic_load_n(slot_of(cq, slot),
									__ATOMIC_ACQUIRE);
}

/* Makes the next poll look at every queue pair, or only at those with something in the inbox. */
static void sweep(struct tako_shm_completion_queue *cq, bool only_with_news)
{
	for (uint32_t slot = 0; slot < TAKO_SHM_QUEUE_PAIRS; slot++) {
		const struct tako_shm_queue_pair *qp = pair_in(cq, slot);
		if (qp != NULL && (!only_with_news || tako_qp_has_news(qp)))
			tako_ready_set(&cq->summary, tako_ready_words(cq->ready), slot);
	}
}

static uint64_t take(uint64_t *word)
{
	if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0)
		return 0;
	return __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST);
}

/* Of very many queue pairs few are in the caches: those with news are fetched side by side. */
static void prefetch(struct tako_shm_completion_queue *cq, uint64_t named)
{
	const uint64_t *shared_words = tako_ready_words(doorbell_of(cq)->ready);
	const uint64_t *words = tako_ready_words(cq->ready);
	struct tako_shm_queue_pair *found[PREFETCH_MAX];
	int count = 0;
	for (; named != 0; named &= named - 1) {
		uint32_t word = (uint32_t)__builtin_ctzll(named);
		uint64_t bits = __atomic_load_n(&words[word], __ATOMIC_RELAXED) |
				__atomic_load_n(&shared_words[word], __ATOMIC_RELAXED);
		for (; bits != 0 && count < PREFETCH_MAX; bits &= bits - 1) {
			found[count] = pair_in(cq, word * 64 + (uint32_t)__builtin_ctzll(bits));
			if (found[count] != NULL)
				tako_qp_prefetch(found[count++]);
		}
	}
	for (int i = 0; i < count && count > 1; i++)
		tako_qp_prefetch_rings(found[i]);
}

/* Drains the queue pairs of one word of ready bits; bits not got to are kept for the next poll. */
static int drain_word(struct tako_shm_completion_queue *cq, uint32_t word, uint64_t bits,
		      struct tako_shm_completion *out, int max)
{
	int count = 0;
	while (bits != 0 && count < max) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct tako_shm_queue_pair *qp = pair_in(cq, slot);
		if (qp != NULL)
			count += tako_qp_drain(qp, cq, slot, out + count, max - count);
		/* A queue pair that filled the rest may have more: its bit stays. */
		if (count < max)
			bits &= bits - 1;
	}
	if (bits != 0) {
		uint64_t *words = tako_ready_words(cq->ready);
		(void)__atomic_fetch_or(&words[word], bits, __ATOMIC_SEQ_CST);
		(void)__atomic_fetch_or(&cq->summary, UINT64_C(1) << word, __ATOMIC_SEQ_CST);
	}
	return count;
}

int tako_cq_poll(struct tako_shm_completion_queue *cq, struct tako_shm_completion *out, int max)
{
	if (max <= 0)
		return 0;
	if (cq->polls_to_sweep == 0) {
		cq->polls_to_sweep = POLLS_PER_SWEEP;
		sweep(cq, false);
	}
	cq->polls_to_sweep--;

	struct tako_shm_doorbell *doorbell = doorbell_of(cq);
	uint64_t shared = take(&doorbell->summary);
	uint64_t named = shared | take(&cq->summary);
	if (named == 0)
		return 0;

	prefetch(cq, named);

	/* Begin with the word after the one served last: a busy one cannot starve the others. */
	uint64_t *shared_words = tako_ready_words(doorbell->ready);
	uint64_t *words = tako_ready_words(cq->ready);
	int count = 0;
	while (named != 0 && count < max) {
		uint64_t rest = named & (UINT64_MAX << cq->next_word % TAKO_READY_WORDS);
		uint32_t word = (uint32_t)__builtin_ctzll(rest != 0 ? rest : named);
		named &= ~(UINT64_C(1) << word);
		uint64_t bits = take(&words[word]) | take(&shared_words[word]);
		count += drain_word(cq, word, bits, out + count, max - count);
		cq->next_word = word + 1;
	}
	if (named != 0)
		(void)__atomic_fetch_or(&cq->summary, named, __ATOMIC_SEQ_CST);
	return count;
}

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

/* Spins for about `ns`; true when there is news before they are over. */
static bool spin(struct tako_shm_completion_queue *cq, int64_t ns)
{
	int64_t begin = now_ns();
	int64_t spent = 0;
	do {
		for (int i = 0; i < 32; i++) {
			if (has_news(cq))
				return true;
			pause_cpu();
		}
		tako_spin_yield(spent, ns, cq->spin_ns);
		spent = now_ns() - begin;
	} while (spent < ns);
	return false;
}

static bool spin_adaptively(struct tako_shm_completion_queue *cq, int64_t timeout)
{
	struct tako_spin state = {.budget_ns = cq->spin_budget_ns, .misses = cq->spin_misses};
	uint32_t ns = tako_spin_begin(&state, cq->spin_ns);
	bool found = spin(cq, ns < timeout ? ns : timeout);
	tako_spin_end(&state, ns, cq->spin_ns, found);
	cq->spin_budget_ns = state.budget_ns;
	cq->spin_misses = state.misses;
	return found;
}

/* Sleeps until there is news or `end`; true in the first case. */
static bool sleep_until(struct tako_shm_completion_queue *cq, int64_t end)
{
	struct tako_shm_doorbell *doorbell = doorbell_of(cq);
	for (;;) {
		int64_t left = end - now_ns();
		if (left <= 0)
			return has_news(cq);
		__atomic_store_n(&doorbell->sleeping, 1, __ATOMIC_SEQ_CST);
		if (!has_news(cq))
			tako_doorbell_sleep(doorbell,
					    left < TAKO_SLEEP_MAX_NS ? left : TAKO_SLEEP_MAX_NS);
		__atomic_store_n(&doorbell->sleeping, 0, __ATOMIC_SEQ_CST);
		if (has_news(cq))
			return true;
		sweep(cq, true);
	}
}

int tako_cq_await(struct tako_shm_completion_queue *cq, int64_t timeout_ns)
{
	int64_t timeout = timeout_ns < 0 ? 0 : timeout_ns;
	int64_t end = now_ns() + (timeout < WAIT_MAX_NS ? timeout : WAIT_MAX_NS);
	if (!spin_adaptively(cq, timeout))
		(void)sleep_until(cq, end);
	return (int)__atomic_exchange_n(&cq->wakeup, 0, __ATOMIC_SEQ_CST);
}

int tako_cq_wake(struct tako_shm_completion_queue *cq)
{
	__atomic_store_n(&cq->wakeup, 1, __ATOMIC_SEQ_CST);
	tako_doorbell_wake(doorbell_of(cq));
	return 0;
}
