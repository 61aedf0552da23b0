/* Messages as Tako's: the header with its CRC32C, then a protobuf of one bytes field. */
#ifndef TAKO_BENCH_CODEC_H
#define TAKO_BENCH_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODEC_OVERHEAD = 40 }; /* bytes of a message beyond its content, at most */

/* Returns the place for the content of a message, `length` bytes. */
uint8_t *message_content(uint8_t *message, uint32_t length);

/* Writes all but the content, which is there; returns the size of the message. */
uint32_t message_seal(uint8_t *message, uint32_t length, uint64_t sequence);

/* The sequence number of a message, whole or not. */
uint64_t message_sequence(const uint8_t *message);

/*
 * Looks whether a message is whole and right, at most `max` bytes long; if `copy` is not NULL its
 * content goes there first, because a peer could change it meanwhile. Returns the content's length,
 * or -1.
 */
int32_t message_open(const uint8_t *message, uint32_t max, uint8_t *copy);

#endif
