/*
 * Adaptive spinning: the time that a thread polls before it sleeps follows recent hits. On a busy
 * processor spinning can keep the awaited peer itself from running, while a sleeper is woken at
 * once.
 */
#ifndef TAKO_SPIN_H
#define TAKO_SPIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tako/layout.h"

/*
 * Nanoseconds of a spin before the first sched_yield(), about the time of one call's reply; found
 * by trial. A longer spin without a yield may occupy the CPU that the awaited thread needs.
 */
#define TAKO_SPIN_ALONE_NS 1500

/* State between two spins, owned by the awaiting thread; zero at first. */
struct tako_spin {
	uint32_t budget_ns;
	uint32_t misses; /* misses since the last hit or the last spin of the ceiling */
};

/* Nanoseconds to spin now, at most `ceiling_ns`. */
static inline uint32_t tako_spin_begin(const struct tako_spin *spin, uint32_t ceiling_ns)
{
	if (spin->misses >= TAKO_SPIN_MISSES_MAX)
		return ceiling_ns;
	uint32_t floor_ns = ceiling_ns / TAKO_SPIN_FLOOR_PART;
	return spin->budget_ns > floor_ns ? spin->budget_ns : floor_ns;
}

/*
 * Between two polls, `spent_ns` into a spin of `ns`: yields, unless recent spins were misses.
 * Another runnable thread may hold the CPU for a whole time slice; a woken sleeper preempts it.
 */
static inline void tako_spin_yield(int64_t spent_ns, int64_t ns, uint32_t ceiling_ns)
{
	if (spent_ns >= TAKO_SPIN_ALONE_NS && ns > ceiling_ns / TAKO_SPIN_FLOOR_PART)
		(void)sched_yield();
}

/*
 * Learns from a spin of `spun_ns`, as tako_spin_begin() said, whether it was a hit. A completion
 * that came later, because others kept the processor, counts as a miss.
 */
static inline void tako_spin_end(struct tako_spin *spin, uint32_t spun_ns, uint32_t ceiling_ns,
				 bool found)
{
	if (found) {
		spin->budget_ns = spun_ns < ceiling_ns / 2 ? 2 * spun_ns : ceiling_ns;
		spin->misses = 0;
	} else {
		spin->misses = spin->misses >= TAKO_SPIN_MISSES_MAX ? 0 : spin->misses + 1;
		spin->budget_ns /= 2;
	}
}

#endif
