#include "codec.h"

#include <string.h>

#include "crc32c.h"
#include "tako/layout.h"

enum { FIELD_TAG = 1 << 3 | 2 }; /* field 1, length-delimited */
static uint32_t varint_size(uint32_t value)
{
	uint32_t size = 1;
	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

static uint32_t prefix_size(uint32_t length)
{
	return 1 + varint_size(length);
}

uint8_t *message_content(uint8_t *message, uint32_t length)
{
	return message + TAKO_RPC_HEADER_SIZE + prefix_size(length);
}

/* Of the header's part that is covered, the field's prefix and the content. */
static uint32_t crc_of(const struct tako_rpc_header *header, const uint8_t *prefix,
		       uint32_t prefix_length, const uint8_t *content, uint32_t length)
{
	uint32_t crc = crc32c(0, &header->client_id,
			      sizeof(*header) - offsetof(struct tako_rpc_header, client_id));
	crc = crc32c(crc, prefix, prefix_length);
	return crc32c(crc, content, length);
}

uint32_t message_seal(uint8_t *message, uint32_t length, uint64_t sequence)
{
	uint32_t prefix = prefix_size(length);
	uint8_t *at = message + TAKO_RPC_HEADER_SIZE;
	*at++ = FIELD_TAG;
	uint32_t value = length;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at = (uint8_t)value;
	struct tako_rpc_header header = {
	    .length = prefix + length, .client_id = 1, .sequence = sequence, .epoch = 1};
	header.crc32c = crc_of(&header, message + TAKO_RPC_HEADER_SIZE, prefix,
			       message_content(message, length), length);
	memcpy(message, &header, sizeof(header));
	return TAKO_RPC_HEADER_SIZE + header.length;
}

uint64_t message_sequence(const uint8_t *message)
{
	const struct tako_rpc_header *header = (const void *)message;
	return __atomic_load_n(&header->sequence, __ATOMIC_ACQUIRE);
}

int32_t message_open(const uint8_t *message, uint32_t max, uint8_t *copy)
{
	struct tako_rpc_header header;
	uint8_t prefix[8];
	memcpy(&header, message, sizeof(header));
	memcpy(prefix, message + sizeof(header), sizeof(prefix));
	uint32_t length = 0;
	uint32_t at = 1;
	for (uint32_t shift = 0; at < 6; shift += 7) {
		uint8_t byte = prefix[at++];
		length |= (uint32_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			break;
	}
	if (prefix[0] != FIELD_TAG || length > max || at + length != header.length)
		return -1;
	const uint8_t *content = message + sizeof(header) + at;
	if (copy != NULL)
		content = memcpy(copy, content, length);
	return crc_of(&header, prefix, at, content, length) == header.crc32c ? (int32_t)length : -1;
}
