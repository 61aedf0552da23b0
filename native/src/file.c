/* Files: opening only what is safe to map, allocation of every byte, locks that the kernel frees.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tako/core.h"

int tako_open(const char *path, unsigned flags)
{
	/* O_NONBLOCK: a FIFO put in the place of a file must not stop us in open(). */
	int open_flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	open_flags |= (flags & TAKO_OPEN_WRITE) != 0 ? O_RDWR : O_RDONLY;
	if ((flags & TAKO_OPEN_CREATE) != 0)
		open_flags |= O_CREAT | O_EXCL;
	if ((flags & TAKO_OPEN_NOFOLLOW) != 0)
		open_flags |= O_NOFOLLOW;

	int fd = open(path, open_flags, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return -errno;

	int error = 0;
	struct stat status;
	if (fstat(fd, &status) != 0)
		error = errno;
	else if (!S_ISREG(status.st_mode))
		error = EINVAL;
	if (error != 0) {
		(void)close(fd);
		return -error;
	}
	return fd;
}

int tako_close(int fd)
{
	return close(fd) == 0 ? 0 : -errno;
}

int tako_allocate(int fd, uint64_t length)
{
	if (length == 0 || length > INT64_MAX)
		return -EINVAL;
	/* Asking first keeps a hopeless request from filling a tmpfs, and memory with it. */
	struct statvfs fs;
	if (fstatvfs(fd, &fs) == 0 && fs.f_blocks != 0 &&
	    length / fs.f_frsize > (uint64_t)fs.f_bavail)
		return -ENOSPC;
	int error;
	do {
		error = posix_fallocate(fd, 0, (off_t)length);
	} while (error == EINTR);
	return -error;
}

int tako_lock(int fd, enum tako_lock_operation operation, uint64_t offset, uint64_t length)
{
	static const short types[] = {[TAKO_LOCK_TAKE] = F_WRLCK,
				      [TAKO_LOCK_TEST] = F_WRLCK,
				      [TAKO_LOCK_SHARE] = F_RDLCK,
				      [TAKO_LOCK_FREE] = F_UNLCK};
	struct flock lock = {.l_type = types[operation],
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)offset,
			     .l_len = (off_t)length};
	if (operation != TAKO_LOCK_TEST) {
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			return 0;
		return errno == EACCES ? -EAGAIN : -errno;
	}
	/* A read-only descriptor may test but not take a write lock. */
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
		return -errno;
	return lock.l_type != F_UNLCK;
}
