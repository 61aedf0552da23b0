/* The C structs of layout.def, and the proof that they have the layout written there. */
#ifndef TAKO_LAYOUT_H
#define TAKO_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Constants. */
#define TAKO_CONST(NAME, value, doc) TAKO_##NAME = (value),
#define TAKO_TUNING(NAME, value, doc) TAKO_##NAME = (value),
#define TAKO_RECORD(NAME, name, size)
#define TAKO_FIELD(RECORD, ctype, field, offset, doc)
#define TAKO_BYTES(RECORD, count, field, offset, doc)
#define TAKO_END(NAME, name)
enum tako_layout_constant {
#include "tako/layout.def"
};
#undef TAKO_CONST
#undef TAKO_TUNING
#undef TAKO_RECORD
#undef TAKO_FIELD
#undef TAKO_BYTES
#undef TAKO_END

/* Structs. */
#define TAKO_CONST(NAME, value, doc)
#define TAKO_TUNING(NAME, value, doc)
#define TAKO_RECORD(NAME, name, size)                                                              \
	enum { TAKO_##NAME##_SIZE = (size) };                                                      \
	struct tako_##name {
#define TAKO_FIELD(RECORD, ctype, field, offset, doc) ctype field;
#define TAKO_BYTES(RECORD, count, field, offset, doc) uint8_t field[count];
#define TAKO_END(NAME, name)                                                                       \
	}                                                                                          \
	;                                                                                          \
	_Static_assert(sizeof(struct tako_##name) == TAKO_##NAME##_SIZE, "size of " #name);
#include "tako/layout.def"
#undef TAKO_CONST
#undef TAKO_TUNING
#undef TAKO_RECORD
#undef TAKO_FIELD
#undef TAKO_BYTES
#undef TAKO_END

/*
 * Offsets: a record's struct has the fields in the order of layout.def without gaps, so its size
 * and the running sum of field sizes pin each offset; layout_gen refuses an offset that differs.
 */

#endif
