/* Checksums of granules, against one bit at a time. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "tako/core.h"

enum { COUNT = 5 };

static uint8_t bytes[(COUNT + 1) * TAKO_GRANULE_SIZE];
static _Alignas(64) uint8_t copy[(COUNT + 1) * TAKO_GRANULE_SIZE];

static uint32_t bit_by_bit(const uint8_t *granule)
{
	uint32_t state = ~UINT32_C(0);
	for (int i = 0; i < TAKO_GRANULE_SIZE; i++) {
		state ^= granule[i];
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (UINT32_C(0x82f63b78) & -(state & 1));
	}
	return ~state;
}

enum { SKIPPED = 77 };

typedef int copier(void *to, const void *granules, size_t count, uint32_t *crc32c);

static void should_copy(copier *copies, size_t at, const uint8_t *from, const uint32_t *expected)
{
	const size_t length = (size_t)COUNT * TAKO_GRANULE_SIZE;
	uint32_t found[COUNT] = {0};
	memset(copy, 0, sizeof(copy));
	CHECK(copies(copy + at, from, COUNT, found) == 0);
	CHECK(memcmp(found, expected, sizeof(found)) == 0);
	CHECK(memcmp(copy + at, from, length) == 0);
	CHECK(copy[at - 1] == 0 && copy[at + length] == 0);
}

static void should_be_crc32c_wherever_the_granules_lie(void)
{
	uint32_t value = 12345;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		value = value * 1103515245 + 12345;
		bytes[i] = (uint8_t)(value >> 16);
	}
	memset(bytes + TAKO_GRANULE_SIZE, 0, TAKO_GRANULE_SIZE);
	memset(bytes + (size_t)2 * TAKO_GRANULE_SIZE, 0xff, TAKO_GRANULE_SIZE);
	for (size_t shift = 0; shift < 70; shift += 23) {
		uint32_t found[COUNT + 1] = {0};
		int result = tako_checksums(bytes + shift, COUNT, found);
		if (result == -ENOSYS) {
			printf("this processor has no fast way\n");
			exit(SKIPPED);
		}
		CHECK(result == 0);
		for (size_t i = 0; i < COUNT; i++)
			CHECK(found[i] == bit_by_bit(bytes + shift + i * TAKO_GRANULE_SIZE));
		CHECK(found[COUNT] == 0);
		should_copy(tako_copy_checksums, 1, bytes + shift, found);
		should_copy(tako_store_checksums, 64, bytes + shift, found);
	}
}

int main(void)
{
	should_be_crc32c_wherever_the_granules_lie();
	return 0;
}
