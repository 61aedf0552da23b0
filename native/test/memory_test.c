/* Files, locks and mappings. The directory for files is the first argument. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tako/core.h"

enum { LENGTH = 1 << 20 };

static char path[4096];

static void name(const char *directory, const char *file)
{
	CHECK(snprintf(path, sizeof(path), "%s/%s-%d", directory, file, (int)getpid()) > 0);
}

static uint8_t *at(int64_t mapped)
{
	CHECK(mapped > 0);
	return (uint8_t *)(uintptr_t)((uint64_t)mapped & ~UINT64_C(1));
}

static void should_allocate_and_share(const char *directory)
{
	name(directory, "shared");
	int fd = tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE);
	CHECK(fd >= 0);
	CHECK(tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE) == -EEXIST);
	CHECK(tako_allocate(fd, LENGTH) == 0);
	struct stat status;
	CHECK(fstat(fd, &status) == 0 && status.st_size == LENGTH);
	CHECK(status.st_blocks * 512 >= LENGTH);

	unsigned flags = TAKO_MAP_WRITE | TAKO_MAP_POPULATE | TAKO_MAP_HUGE;
	uint8_t *first = at(tako_map(fd, 0, LENGTH, flags));
	uint8_t *second = at(tako_map(fd, 4096, 4096, TAKO_MAP_POPULATE));
	first[4096 + 5] = 42;
	CHECK(second[5] == 42);
	CHECK(tako_persist((uint64_t)(uintptr_t)first + 4097, 100, 0) == 0);
#if defined(__x86_64__)
	CHECK(tako_persist((uint64_t)(uintptr_t)first + 4097, 100, 1) == 0);
#endif
	CHECK(tako_map(fd, 4096, LENGTH, flags) == -EINVAL);
	CHECK(tako_map(fd, UINT64_MAX - 4095, 8192, flags) == -EINVAL);
	CHECK(tako_map(fd, 0, 0, flags) == -EINVAL);

	CHECK(tako_discard((uint64_t)(uintptr_t)first, LENGTH) == 0);
	CHECK(first[4096 + 5] == 0);
	first[4096 + 5] = 1;
	CHECK(second[5] == 42);
	CHECK(tako_unmap((uint64_t)(uintptr_t)first, LENGTH) == 0);
	CHECK(tako_unmap((uint64_t)(uintptr_t)second, 4096) == 0);
	CHECK(tako_close(fd) == 0 && unlink(path) == 0);
}

static long faults(void)
{
	struct rusage usage;
	CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
	return usage.ru_minflt;
}

/* On file systems such as tmpfs a read fault makes a page writable too. */
static void should_store_without_faults_where_it_populated(void)
{
	const uint64_t part = LENGTH / 4;
	int fd = memfd_create("populated", MFD_CLOEXEC);
	CHECK(fd >= 0 && tako_allocate(fd, LENGTH) == 0);
	uint8_t *whole = at(tako_map(fd, 0, LENGTH, TAKO_MAP_WRITE | TAKO_MAP_POPULATE));
	uint8_t *mapped = at(tako_map(fd, 0, LENGTH, TAKO_MAP_WRITE));
	CHECK(tako_populate((uint64_t)(uintptr_t)mapped + part + 100, part) == 0);
	long before = faults();
	for (uint64_t i = part; i < 2 * part; i += 4096)
		mapped[i] = 7;
	long populated = faults() - before;
	for (uint64_t i = 3 * part; i < LENGTH; i += 4096)
		mapped[i] = 8;
	long others = faults() - before - populated;
	/* Not none: sanitizers' runtimes fault now and then. */
	CHECK(populated * 4 <= others);
	CHECK(whole[part] == 7 && whole[3 * part] == 8);
	before = faults();
	for (uint64_t i = 2 * part; i < 3 * part; i += 4096)
		whole[i] = 9;
	/* As many pages as faulted above: the sanitizer's shadow of a page faults as well. */
	CHECK((faults() - before) * 4 <= others);
	CHECK(tako_unmap((uint64_t)(uintptr_t)whole, LENGTH) == 0);
	CHECK(tako_unmap((uint64_t)(uintptr_t)mapped, LENGTH) == 0);
	CHECK(tako_close(fd) == 0);
}

static void should_say_that_there_is_no_space(const char *directory)
{
	name(directory, "large");
	int fd = tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE);
	CHECK(fd >= 0);
	CHECK(tako_allocate(fd, UINT64_C(1) << 50) == -ENOSPC);
	CHECK(tako_allocate(fd, 0) == -EINVAL);
	CHECK(tako_close(fd) == 0 && unlink(path) == 0);
}

static void should_open_only_regular_files(const char *directory)
{
	name(directory, "odd");
	CHECK(tako_open(directory, 0) == -EINVAL);
	CHECK(mkfifo(path, 0600) == 0);
	CHECK(tako_open(path, TAKO_OPEN_WRITE) == -EINVAL);
	CHECK(tako_open(path, 0) == -EINVAL);
	CHECK(unlink(path) == 0);
	CHECK(symlink("/dev/null", path) == 0);
	CHECK(tako_open(path, TAKO_OPEN_NOFOLLOW) == -ELOOP);
	CHECK(tako_open(path, 0) == -EINVAL);
	CHECK(unlink(path) == 0);
	CHECK(tako_open(path, 0) == -ENOENT);
}

/* A lock tells of a process until it dies, also while it is stopped. */
static void should_lose_the_lock_with_its_process(const char *directory)
{
	name(directory, "lock");
	int fd = tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE);
	CHECK(fd >= 0);
	CHECK(tako_lock(fd, TAKO_LOCK_TEST, 0, 0) == 0);
	int ready[2];
	CHECK(pipe(ready) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		int own = tako_open(path, TAKO_OPEN_WRITE);
		CHECK(own >= 0 && tako_lock(own, TAKO_LOCK_TAKE, 0, 0) == 0);
		CHECK(write(ready[1], "x", 1) == 1);
		for (;;)
			(void)pause();
	}
	char byte;
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(tako_lock(fd, TAKO_LOCK_TEST, 0, 0) == 1);
	CHECK(tako_lock(fd, TAKO_LOCK_TAKE, 0, 0) == -EAGAIN);
	CHECK(kill(child, SIGSTOP) == 0);
	CHECK(tako_lock(fd, TAKO_LOCK_TEST, 0, 0) == 1);
	CHECK(kill(child, SIGKILL) == 0);
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(tako_lock(fd, TAKO_LOCK_TEST, 0, 0) == 0);
	CHECK(tako_lock(fd, TAKO_LOCK_TAKE, 0, 0) == 0);
	CHECK(tako_close(ready[0]) == 0 && tako_close(ready[1]) == 0);
	CHECK(tako_close(fd) == 0 && unlink(path) == 0);
}

static void should_share_a_lock_with_those_that_only_share_it(const char *directory)
{
	name(directory, "shared");
	int first = tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE);
	int second = tako_open(path, 0);
	int third = tako_open(path, TAKO_OPEN_WRITE);
	CHECK(first >= 0 && second >= 0 && third >= 0);
	CHECK(tako_lock(first, TAKO_LOCK_SHARE, 0, 0) == 0);
	CHECK(tako_lock(second, TAKO_LOCK_SHARE, 0, 0) == 0);
	CHECK(tako_lock(third, TAKO_LOCK_TEST, 0, 0) == 1);
	CHECK(tako_lock(third, TAKO_LOCK_TAKE, 0, 0) == -EAGAIN);
	CHECK(tako_close(first) == 0);
	CHECK(tako_lock(third, TAKO_LOCK_TAKE, 0, 0) == -EAGAIN);
	CHECK(tako_close(second) == 0);
	CHECK(tako_lock(third, TAKO_LOCK_TAKE, 0, 0) == 0);
	second = tako_open(path, 0);
	CHECK(tako_lock(second, TAKO_LOCK_SHARE, 0, 0) == -EAGAIN);
	CHECK(tako_close(second) == 0 && tako_close(third) == 0 && unlink(path) == 0);
}

static volatile int stop;
static volatile long passes;

static void *use(void *argument)
{
	volatile uint8_t *bytes = argument;
	while (!stop) {
		for (int i = 0; i < LENGTH; i += 4096)
			bytes[i] = (uint8_t)(bytes[i] + 1);
		passes = passes + 1;
	}
	return NULL;
}

/* A thread that uses memory which is taken away meets zeroes, not a fault. */
static void should_not_fault_who_uses_discarded_memory(const char *directory)
{
	name(directory, "discarded");
	int fd = tako_open(path, TAKO_OPEN_WRITE | TAKO_OPEN_CREATE);
	CHECK(fd >= 0 && tako_allocate(fd, LENGTH) == 0);
	int64_t mapped = tako_map(fd, 0, LENGTH, TAKO_MAP_WRITE | TAKO_MAP_POPULATE);
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, use, at(mapped)) == 0);
	for (long seen = passes; passes == seen;)
		;
	CHECK(tako_discard((uint64_t)(uintptr_t)at(mapped), LENGTH) == 0);
	for (long seen = passes; passes < seen + 2;)
		;
	stop = 1;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(tako_unmap((uint64_t)(uintptr_t)at(mapped), LENGTH) == 0);
	CHECK(tako_close(fd) == 0 && unlink(path) == 0);
}

static void should_store_exactly_what_it_is_given(void)
{
	enum { ROOM = 512, OFFSETS = 70 };
	uint8_t from[ROOM];
	uint8_t to[ROOM];
	for (int i = 0; i < ROOM; i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (size_t offset = 0; offset < OFFSETS; offset++) {
		for (size_t length = 0; length < ROOM - 2 * OFFSETS; length++) {
			memset(to, 0, sizeof(to));
			tako_store(to + offset, from + OFFSETS - offset, length);
			CHECK(memcmp(to + offset, from + OFFSETS - offset, length) == 0);
			CHECK(offset == 0 || to[offset - 1] == 0);
			CHECK(to[offset + length] == 0);
		}
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	should_allocate_and_share(argv[1]);
	should_store_without_faults_where_it_populated();
	should_say_that_there_is_no_space(argv[1]);
	should_open_only_regular_files(argv[1]);
	should_lose_the_lock_with_its_process(argv[1]);
	should_share_a_lock_with_those_that_only_share_it(argv[1]);
	should_not_fault_who_uses_discarded_memory(argv[1]);
	should_store_exactly_what_it_is_given();
	return 0;
}
