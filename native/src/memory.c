/* Mapped memory: populated, on huge pages where they are to be had, and safe to take away. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "tako/core.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum {
	LINE = 64,
	TMPFS = 0x01021994,	    /* linux/magic.h */
	POPULATE_AT_ONCE = 16 << 20 /* the kernel locks the address space meanwhile */
};

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* For kernels before 5.14, where a page that cannot be had is a fault and not an error. */
static void touch(void *start, uint64_t length, bool write)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (uint64_t at = 0; at < length; at += page) {
		uint8_t *byte = (uint8_t *)start + at;
		if (write)
			(void)__atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
		else
			(void)__atomic_load_n(byte, __ATOMIC_RELAXED);
	}
}

static int populate_piece(void *start, uint64_t length, bool write)
{
	int result;
	do {
		result = madvise(start, length, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	} while (result != 0 && (errno == EINTR || errno == EAGAIN));
	if (result == 0)
		return 0;
	if (errno == EINVAL) {
		touch(start, length, write);
		return 0;
	}
	/* EFAULT: touching it would have been a SIGBUS, which a file's owner cannot mean. */
	return errno == EFAULT ? -ENOSPC : -errno;
}

/* In pieces: a thread that maps something, as a JVM often does, waits for one piece only. */
static int populate(void *start, uint64_t length, bool write)
{
	int error = 0;
	for (uint64_t at = 0; at < length && error == 0; at += POPULATE_AT_ONCE) {
		uint64_t left = length - at;
		error = populate_piece((uint8_t *)start + at,
				       left < POPULATE_AT_ONCE ? left : POPULATE_AT_ONCE, write);
	}
	return error;
}

/*
 * Reading maps up to sixteen pages of the page cache for each fault, and writing one, so reading
 * first takes less than half of the time. On tmpfs this is enough for writing, too: its pages are
 * not tracked for being written back.
 */
static int populate_file(int fd, void *start, uint64_t length, bool write)
{
	struct statfs status;
	int error = populate(start, length, false);
	if (error != 0 || !write)
		return error;
	if (fstatfs(fd, &status) == 0 && status.f_type == TMPFS)
		return 0;
	return populate(start, length, true);
}

static int check_length(int fd, uint64_t offset, uint64_t length)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return -errno;
	uint64_t size = (uint64_t)status.st_size;
	return offset > size || length > size - offset ? -EINVAL : 0;
}

int64_t tako_map(int fd, uint64_t offset, uint64_t length, unsigned flags)
{
	if (length == 0 || length > INT64_MAX || offset > INT64_MAX)
		return -EINVAL;
	bool anonymous = (flags & TAKO_MAP_ANONYMOUS) != 0;
	bool write = (flags & TAKO_MAP_WRITE) != 0;
	int protection = write ? PROT_READ | PROT_WRITE : PROT_READ;
	bool synchronous = false;
	void *start = MAP_FAILED;
	if (anonymous) {
		start = mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
	} else {
		int error = check_length(fd, offset, length);
		if (error != 0)
			return error;
#ifdef MAP_SYNC
		start = mmap(NULL, length, protection, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
			     (off_t)offset);
		synchronous = start != MAP_FAILED;
#endif
		if (!synchronous)
			start = mmap(NULL, length, protection, MAP_SHARED, fd, (off_t)offset);
	}
	if (start == MAP_FAILED)
		return -errno;

	if ((flags & TAKO_MAP_HUGE) != 0)
		(void)madvise(start, length, MADV_HUGEPAGE); /* a wish: most hosts refuse */
	if ((flags & TAKO_MAP_POPULATE) != 0) {
		int error = anonymous ? populate(start, length, write)
				      : populate_file(fd, start, length, write);
		if (error != 0) {
			(void)munmap(start, length);
			return error;
		}
	}
	return (int64_t)((uintptr_t)start | (synchronous ? TAKO_MAP_SYNCHRONOUS : 0));
}

int tako_populate(uint64_t address, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = address & ~(page - 1);
	return populate(pointer(first), length + (address - first), false);
}

int tako_discard(uint64_t address, uint64_t length)
{
	void *start = mmap(pointer(address), length, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return start == MAP_FAILED ? -errno : 0;
}

int tako_unmap(uint64_t address, uint64_t length)
{
	return munmap(pointer(address), length) == 0 ? 0 : -errno;
}

#if defined(__x86_64__)
enum write_back { CLFLUSH, CLFLUSHOPT, CLWB };

static enum write_back best_write_back(void)
{
	unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
	if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0)
		return CLFLUSH;
	if ((ebx & (1u << 24)) != 0)
		return CLWB;
	return (ebx & (1u << 23)) != 0 ? CLFLUSHOPT : CLFLUSH;
}

static void write_back_lines(uint64_t address, uint64_t length)
{
	enum write_back how = best_write_back();
	uint64_t end = address + length;
	for (uint64_t at = address & ~UINT64_C(63); at < end; at += 64) {
		volatile char *line = pointer(at);
		if (how == CLWB)
			__asm__ volatile(".byte 0x66; xsaveopt %0" : "+m"(*line)); /* clwb */
		else if (how == CLFLUSHOPT)
			__asm__ volatile(".byte 0x66; clflush %0" : "+m"(*line)); /* clflushopt */
		else
			__asm__ volatile("clflush %0" : "+m"(*line));
	}
	_mm_sfence();
}
#endif

void tako_store(void *to, const void *from, size_t length)
{
	uint8_t *target = to;
	const uint8_t *source = from;
#if defined(__x86_64__)
	size_t head = -(uintptr_t)target % LINE;
	if (length >= head + LINE) {
		memcpy(target, source, head);
		size_t at = head;
		for (; at + LINE <= length; at += LINE) {
			const __m128i *in = (const __m128i *)(const void *)(source + at);
			__m128i *out = (__m128i *)(void *)(target + at);
			__m128i first = _mm_loadu_si128(in);
			__m128i second = _mm_loadu_si128(in + 1);
			__m128i third = _mm_loadu_si128(in + 2);
			__m128i fourth = _mm_loadu_si128(in + 3);
			_mm_stream_si128(out, first);
			_mm_stream_si128(out + 1, second);
			_mm_stream_si128(out + 2, third);
			_mm_stream_si128(out + 3, fourth);
		}
		_mm_sfence();
		target += at;
		source += at;
		length -= at;
	}
#endif
	memcpy(target, source, length);
}

int tako_persist(uint64_t address, uint64_t length, int synchronous)
{
#if defined(__x86_64__)
	if (synchronous) {
		write_back_lines(address, length);
		return 0;
	}
#else
	(void)synchronous;
#endif
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = address & ~(page - 1);
	return msync(pointer(first), length + (address - first), MS_SYNC) == 0 ? 0 : -errno;
}
