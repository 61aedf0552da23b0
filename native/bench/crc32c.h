/* CRC32C, by the processor's instruction where there is one: as fast as Java's. */
#ifndef TAKO_BENCH_CRC32C_H
#define TAKO_BENCH_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Once, before the first crc32c and before fork(). */
void crc32c_prepare(void);

/* CRC of `bytes` that follow those that gave `crc`, which is 0 to begin with. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

#endif
