/* Adaptive spinning: hits lengthen the spin, misses shorten it, and the ceiling is tried again. */
#include "spin.h"

#include "check.h"

enum { CEILING = 32000, FLOOR = CEILING / TAKO_SPIN_FLOOR_PART };

static struct tako_spin spin;

static uint32_t next(bool found)
{
	uint32_t spun = tako_spin_begin(&spin, CEILING);
	tako_spin_end(&spin, spun, CEILING, found);
	return spun;
}

static void should_begin_at_the_floor_and_double_up_to_the_ceiling(void)
{
	spin = (struct tako_spin){0};
	for (uint32_t wanted = FLOOR; wanted < CEILING; wanted *= 2)
		CHECK(next(true) == wanted);
	CHECK(next(true) == CEILING);
	CHECK(next(true) == CEILING);
}

static void should_halve_down_to_the_floor(void)
{
	spin = (struct tako_spin){.budget_ns = CEILING};
	for (uint32_t wanted = CEILING; wanted > FLOOR; wanted /= 2)
		CHECK(next(false) == wanted);
	CHECK(next(false) == FLOOR);
	CHECK(next(false) == FLOOR);
}

static void should_try_the_ceiling_now_and_then(void)
{
	spin = (struct tako_spin){0};
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < TAKO_SPIN_MISSES_MAX; i++)
			CHECK(next(false) == FLOOR);
		CHECK(next(false) == CEILING);
	}
	for (int i = 0; i < TAKO_SPIN_MISSES_MAX; i++)
		CHECK(next(false) == FLOOR);
	CHECK(next(true) == CEILING);
	CHECK(next(true) == CEILING);
}

static void should_not_spin_where_that_is_not_wanted(void)
{
	spin = (struct tako_spin){0};
	CHECK(tako_spin_begin(&spin, 0) == 0);
	tako_spin_end(&spin, 0, 0, true);
	CHECK(tako_spin_begin(&spin, 0) == 0);
}

int main(void)
{
	should_begin_at_the_floor_and_double_up_to_the_ceiling();
	should_halve_down_to_the_floor();
	should_try_the_ceiling_now_and_then();
	should_not_spin_where_that_is_not_wanted();
	return 0;
}
