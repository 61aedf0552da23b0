/* Ready bits and the futex of a completion queue, in shared or private memory. */
#ifndef TAKO_DOORBELL_H
#define TAKO_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#include "tako/layout.h"

enum { TAKO_READY_WORDS = TAKO_SHM_QUEUE_PAIRS / 64 };

_Static_assert(TAKO_READY_WORDS == 64, "one summary word names all words of ready");

/*
 * Sets the bit, then its word's bit in the summary. The reader clears in the other order, so a bit
 * is never left set with its summary clear once both are through. Both are full barriers: the
 * thread that takes the bit sees all earlier stores, and later loads see that thread's `sleeping`.
 */
static inline void tako_ready_set(uint64_t *summary, uint64_t *words, uint32_t slot)
{
	uint32_t word = (slot / 64) % TAKO_READY_WORDS;
	(void)__atomic_fetch_or(&words[word], UINT64_C(1) << (slot % 64), __ATOMIC_SEQ_CST);
	(void)__atomic_fetch_or(summary, UINT64_C(1) << word, __ATOMIC_SEQ_CST);
}

static inline uint64_t *tako_ready_words(uint8_t *ready)
{
	return (uint64_t *)(void *)ready;
}

/* Wakes the owner of the doorbell if it sleeps; a system call only then. */
void tako_doorbell_wake(struct tako_shm_doorbell *doorbell);

/* Sleeps until woken, or `timeout_ns`; returns at once unless `sleeping` is still 1. */
void tako_doorbell_sleep(struct tako_shm_doorbell *doorbell, int64_t timeout_ns);

#endif
