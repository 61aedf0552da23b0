/* File data, and checksums of them, one a granule, beside them. */
#include <string.h>

#include "call_bench.h"
#include "crc32c.h"

uint32_t granules(const struct bench *bench)
{
	return (bench->size + GRANULE - 1) / GRANULE;
}

static uint32_t granule_crc(const struct bench *bench, const uint8_t *data, uint32_t index)
{
	uint32_t offset = index * GRANULE;
	uint32_t left = bench->size - offset;
	return crc32c(0, data + offset, left < GRANULE ? left : GRANULE);
}

void write_checksums(const struct bench *bench, int side, uint32_t connection)
{
	const uint8_t *data = place(bench, side, connection, bench->data);
	uint8_t *checksums = place(bench, side, connection, bench->checksums);
	for (uint32_t i = 0; i < granules(bench); i++) {
		uint32_t crc = granule_crc(bench, data, i);
		memcpy(checksums + sizeof(crc) * i, &crc, sizeof(crc));
	}
}

bool checksums_match(const struct bench *bench, int side, uint32_t connection)
{
	const uint8_t *data = place(bench, side, connection, bench->data);
	const uint8_t *checksums = place(bench, side, connection, bench->checksums);
	for (uint32_t i = 0; i < granules(bench); i++) {
		uint32_t crc;
		memcpy(&crc, checksums + sizeof(crc) * i, sizeof(crc));
		if (crc != granule_crc(bench, data, i))
			return false;
	}
	return true;
}

void transfer(const struct bench *bench, uint32_t connection, enum link_opcode opcode,
	      bool is_signaled, struct link_operation operations[TRANSFER_OPERATIONS])
{
	uint64_t base = connection * bench->stride;
	operations[0] = (struct link_operation){.opcode = opcode,
						.length = bench->size,
						.local = base + bench->data,
						.remote = base + bench->data};
	operations[1] =
	    (struct link_operation){.opcode = opcode,
				    .signaled = is_signaled,
				    .length = granules(bench) * (uint32_t)sizeof(uint32_t),
				    .local = base + bench->checksums,
				    .remote = base + bench->checksums};
}
