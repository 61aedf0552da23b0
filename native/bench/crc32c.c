#include "crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78U /* Castagnoli, reflected */

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANE = 256 }; /* bytes of each of three parts that are worked on at once */

static uint32_t over_one_lane; /* moves a state over that many zero bytes, by multiplication */
static uint32_t over_two_lanes;

/* x to the power of `exponent`, modulo the polynomial. */
static uint32_t power(uint32_t exponent)
{
	uint32_t value = 0x80000000U;
	for (; exponent > 0; exponent--)
		value = value >> 1 ^ (POLYNOMIAL & -(value & 1));
	return value;
}

void crc32c_prepare(void)
{
	/* The product is reflected as well, which is one bit, and reduced by 32 bits too many. */
	over_one_lane = power(8 * LANE - 33);
	over_two_lanes = power(2 * 8 * LANE - 33);
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return word;
}

__attribute__((target("sse4.2,pclmul"))) static uint64_t shift(uint64_t state, uint32_t over)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)state),
					       _mm_cvtsi64_si128((long long)over), 0);
	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul"))) uint32_t crc32c(uint32_t crc, const void *bytes,
							 size_t length)
{
	const uint8_t *at = bytes;
	uint64_t state = ~crc;
	for (; length >= (size_t)3 * LANE; length -= (size_t)3 * LANE, at += (size_t)3 * LANE) {
		uint64_t second = 0;
		uint64_t third = 0;
		for (size_t i = 0; i < LANE; i += sizeof(uint64_t)) {
			state = _mm_crc32_u64(state, word_at(at + i));
			second = _mm_crc32_u64(second, word_at(at + LANE + i));
			third = _mm_crc32_u64(third, word_at(at + (size_t)2 * LANE + i));
		}
		state = shift(state, over_two_lanes) ^ shift(second, over_one_lane) ^ third;
	}
	for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t), at += sizeof(uint64_t))
		state = _mm_crc32_u64(state, word_at(at));
	uint32_t rest = (uint32_t)state;
	for (; length > 0; length--)
		rest = _mm_crc32_u8(rest, *at++);
	return ~rest;
}

#else

void crc32c_prepare(void)
{
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint32_t state = ~crc;
	for (; length > 0; length--) {
		state ^= *at++;
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (POLYNOMIAL & -(state & 1));
	}
	return ~state;
}

#endif
