/*
 * How long a thread spins for news before it sleeps: as long as that has been worth it lately.
 * Where others want the processor too, spinning keeps the very peer from running that is waited
 * for, while a sleeper is woken at once.
 */
#ifndef TAKO_SPIN_H
#define TAKO_SPIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tako/layout.h"

/*
 * Nanoseconds of a spin without letting others run, about what the reply to one call takes; found
 * by trial. Whoever has no news by then may be in the way of the very thread that is to bring it.
 */
#define TAKO_SPIN_ALONE_NS 1500

/* What is kept between two spins; zero at first. The awaiting thread's. */
struct tako_spin {
	uint32_t budget_ns;
	uint32_t misses; /* spins in vain since the last that was not, or that had the ceiling */
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
 * Between two looks in vain, `spent_ns` into a spin of `ns`: lets others run, unless spins have
 * been in vain lately. Who else runs may keep the processor for long; a sleeper would get it back.
 */
static inline void tako_spin_yield(int64_t spent_ns, int64_t ns, uint32_t ceiling_ns)
{
	if (spent_ns >= TAKO_SPIN_ALONE_NS && ns > ceiling_ns / TAKO_SPIN_FLOOR_PART)
		(void)sched_yield();
}

/*
 * Learns from a spin of `spun_ns`, as tako_spin_begin() said, whether it found news within that
 * time: what came after it, because others kept the processor, came to a spin that was in vain.
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
