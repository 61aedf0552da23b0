/*
 * The native core: files and memory, and the queue pairs of the shm transport. No Java in it.
 *
 * Every function returns at least 0, or -errno. Nothing here prints, exits or aborts.
 */
#ifndef TAKO_CORE_H
#define TAKO_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tako/layout.h"

/* ---- files and memory (file.c, memory.c, checksum.c) ----------------------------------------
 */

enum tako_open_flag {
	TAKO_OPEN_WRITE = 1,  /* read and write; otherwise read only */
	TAKO_OPEN_CREATE = 2, /* make it, fail with EEXIST if there is one; mode 0600 less umask */
	TAKO_OPEN_NOFOLLOW = 8, /* fail with ELOOP on a symbolic link */
};

/* Opens a regular file; EINVAL if it is anything else. Never waits for a FIFO's other end. */
int tako_open(const char *path, unsigned flags);
int tako_close(int fd);

/*
 * Makes an empty file `length` bytes long, every one allocated: no later access can fail for want
 * of space. ENOSPC leaves the file for the caller to remove.
 */
int tako_allocate(int fd, uint64_t length);

enum tako_lock_operation {
	TAKO_LOCK_TAKE = 0,  /* exclusive; EAGAIN if another open file description holds it */
	TAKO_LOCK_TEST = 1,  /* 1 if another open file description holds or shares it, else 0 */
	TAKO_LOCK_SHARE = 2, /* with others that share it; EAGAIN if one holds it exclusively */
	TAKO_LOCK_FREE = 3,  /* what this open file description holds of the range */
};

/*
 * An open-file-description lock of `length` bytes from `offset`, 0 for all after it: gone when
 * `fd` is closed or the process dies.
 */
int tako_lock(int fd, enum tako_lock_operation operation, uint64_t offset, uint64_t length);

enum tako_map_flag {
	TAKO_MAP_WRITE = 1,
	TAKO_MAP_POPULATE = 2,	 /* touch every page now; ENOSPC or EFAULT if that cannot be */
	TAKO_MAP_ANONYMOUS = 4,	 /* private zeroed memory; fd is not looked at */
	TAKO_MAP_HUGE = 8,	 /* ask for huge pages */
	TAKO_MAP_SYNCHRONOUS = 1 /* in the result: stores need only tako_persist to be durable */
};

/*
 * Maps part of a file, shared. EINVAL if the file ends before offset + length. The result is the
 * address, page-aligned, with TAKO_MAP_SYNCHRONOUS in its lowest bit for a DAX mapping.
 */
int64_t tako_map(int fd, uint64_t offset, uint64_t length, unsigned flags);

/*
 * Makes the pages of a part of a mapping present, all at once: one by one, as they are touched,
 * costs several times as much. On tmpfs for storing, too: its pages are looked at only, and can
 * then be written without a fault. ENOSPC where a page that the file lacks cannot be had.
 */
int tako_populate(uint64_t address, uint64_t length);

/*
 * Replaces a mapping by private zeroes, so that a thread that still uses it meets zeroes and not a
 * fault; the file is released. The address range remains until tako_unmap.
 */
int tako_discard(uint64_t address, uint64_t length);
int tako_unmap(uint64_t address, uint64_t length);

/*
 * Copies past the caches, for what this processor will not look at soon: to memory that is written
 * once, that costs two thirds of what a copy through the caches does. Ordered before every later
 * store.
 */
void tako_store(void *to, const void *from, size_t length);

/* CRC32C of each of `count` granules; ENOSYS where the processor has no fast way. */
int tako_checksums(const void *granules, size_t count, uint32_t *crc32c);

/* Copies as well: the checksums are of the copy, whoever changes the granules meanwhile. */
int tako_copy_checksums(void *to, const void *granules, size_t count, uint32_t *crc32c);

/* The same as tako_store() does it; `to` is a multiple of 64. */
int tako_store_checksums(void *to, const void *granules, size_t count, uint32_t *crc32c);

/* Makes stores durable where the file can be: cache write-back if `synchronous`, else msync. */
int tako_persist(uint64_t address, uint64_t length, int synchronous);

/* ---- completion queues (completion_queue.c) ----------------------------------------------------
 */

/* Puts a queue pair into a free slot; takes it out if `qp` is NULL. Any thread. */
int tako_cq_attach(struct tako_shm_completion_queue *cq, uint32_t slot,
		   struct tako_shm_queue_pair *qp);

/* Says that a queue pair of this process in `slot` has something to report. Any thread. */
void tako_cq_notify(struct tako_shm_completion_queue *cq, uint32_t slot);

/* Fills `out` with at most `max` completions and events; returns how many. The polling thread. */
int tako_cq_poll(struct tako_shm_completion_queue *cq, struct tako_shm_completion *out, int max);

/* Waits for something to poll, tako_cq_wake, or `timeout_ns`; may return early. */
int tako_cq_await(struct tako_shm_completion_queue *cq, int64_t timeout_ns);
int tako_cq_wake(struct tako_shm_completion_queue *cq);

/* ---- queue pairs (queue_pair.c) ----------------------------------------------------------------
 */

enum tako_post_result {
	TAKO_POST_DONE = 0,
	TAKO_POST_WANTS_MAPPING =
	    1,		       /* map wanted_rkey, or make it known as refused, and call again */
	TAKO_POST_REVOKED = 2, /* the peer has ended the pair, which just went into error by that */
	TAKO_POST_FAILED = 16, /* plus a status: the pair just went into error by that */
};

/*
 * Executes `bytes` of work records with their pieces. After WANTS_MAPPING the same call goes on
 * where it stopped. One posting thread.
 *
 * Stores, then checks: a success is published only if the peer had not set `revoked` after all
 * bytes were stored and a full fence was executed.
 */
int tako_qp_post(struct tako_shm_queue_pair *qp, const void *work, uint32_t bytes);

/* Posts one receive. ENOBUFS if as many are posted as the inbox has entries. The posting thread. */
int tako_qp_post_receive(struct tako_shm_queue_pair *qp, uint64_t id);

/*
 * Moves forward to SHM_ERROR or SHM_CLOSED. Returns 1 if that changed the state. Any thread.
 *
 * Sets `revoked` for the peer before anything else: once this returns, whatever the result, a send
 * that the peer completes with success has all its bytes where this process sees them. What the
 * peer is storing may still land, and never counts.
 */
int tako_qp_fail(struct tako_shm_queue_pair *qp, uint32_t state);

/* For completion_queue.c: reports receives or sends of `qp`; returns how many of `max` it filled.
 */
int tako_qp_drain(struct tako_shm_queue_pair *qp, struct tako_shm_completion_queue *cq,
		  uint32_t slot, struct tako_shm_completion *out, int max);

/* For completion_queue.c: asks for the record's lines, then for those of its rings that come next.
 */
void tako_qp_prefetch(const struct tako_shm_queue_pair *qp);
void tako_qp_prefetch_rings(const struct tako_shm_queue_pair *qp);

/* For completion_queue.c: whether the peer put something into the inbox, whatever the bits say. */
bool tako_qp_has_news(const struct tako_shm_queue_pair *qp);

#endif
