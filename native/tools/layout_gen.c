/*
 * Prints Layout.java from layout.def, or with --hash a C header with the layout hash. Fails when a
 * record's fields overlap, leave a gap, are misaligned or do not end at the record's size.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool failed;
static FILE *java; /* NULL when only the hash is wanted */
static size_t record_size;
static size_t record_next;
static uint64_t hash = UINT64_C(0xcbf29ce484222325);

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
	if (java == NULL)
		return;
	va_list arguments;
	va_start(arguments, format);
	(void)vfprintf(java, format, arguments);
	va_end(arguments);
}

static void hash_text(const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		hash ^= (uint8_t)*c;
		hash *= UINT64_C(0x100000001b3);
	}
}

static void hash_number(uint64_t number)
{
	char text[32];
	(void)snprintf(text, sizeof(text), ":%" PRIu64 ";", number);
	hash_text(text);
}

static void tuning(const char *name, int64_t value, const char *doc)
{
	print("  /** %s. */\n  public static final int %s = %" PRId64 ";\n", doc, name, value);
}

static void constant(const char *name, int64_t value, const char *doc)
{
	hash_text(name);
	hash_number((uint64_t)value);
	tuning(name, value, doc);
}

static void record_begin(const char *name, size_t size)
{
	record_size = size;
	record_next = 0;
	hash_text(name);
	hash_number(size);
	print("\n  /** Bytes of the record {@code %s}. */\n  public static final int %s_SIZE = "
	      "%zu;\n",
	      name, name, size);
}

static void field(const char *record, const char *name, const char *upper, size_t offset,
		  size_t size, size_t align, const char *doc)
{
	if (offset != record_next || offset % align != 0) {
		fprintf(stderr, "layout.def: %s.%s is at %zu, expected %zu, alignment %zu\n",
			record, name, offset, record_next, align);
		failed = true;
	}
	record_next = offset + size;
	hash_text(name);
	hash_number(offset);
	hash_number(size);
	if (strncmp(name, "reserved", 8) == 0)
		return;
	print("  /** Offset of {@code %s.%s}: %s. */\n  public static final int %s_", record, name,
	      doc, record);
	for (const char *c = upper; *c != '\0'; c++)
		print("%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	print("_OFFSET = %zu;\n", offset);
}

static void record_end(const char *name)
{
	if (record_next != record_size) {
		fprintf(stderr, "layout.def: %s ends at %zu, its size is %zu\n", name, record_next,
			record_size);
		failed = true;
	}
}

int main(int argc, char **argv)
{
	bool header = argc > 1 && strcmp(argv[1], "--hash") == 0;
	java = header ? NULL : stdout;
	print(
	    "package io.takofs.layout;\n\n"
	    "/** Every memory and wire layout. Generated from native/include/tako/layout.def. */\n"
	    "public final class Layout {\n");
#define TAKO_CONST(NAME, value, doc) constant(#NAME, (value), doc);
#define TAKO_TUNING(NAME, value, doc) tuning(#NAME, (value), doc);
#define TAKO_RECORD(NAME, name, size) record_begin(#NAME, (size));
#define TAKO_FIELD(RECORD, ctype, name, offset, doc)                                               \
	field(#RECORD, #name, #name, (offset), sizeof(ctype), sizeof(ctype), doc);
#define TAKO_BYTES(RECORD, count, name, offset, doc)                                               \
	field(#RECORD, #name, #name, (offset), (count), 1, doc);
#define TAKO_END(NAME, name) record_end(#NAME);
#include "tako/layout.def"
	print("\n  /** Hash of the layouts; peers and pools compare it. */\n"
	      "  public static final long LAYOUT_HASH = 0x%016" PRIx64 "L;\n",
	      hash);
	print("\n  private Layout() {}\n}\n");
	if (header)
		printf("#define TAKO_LAYOUT_HASH UINT64_C(0x%016" PRIx64 ")\n", hash);
	return failed ? 1 : 0;
}
