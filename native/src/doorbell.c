#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tako_doorbell_wake(struct tako_shm_doorbell *doorbell)
{
	if (__atomic_load_n(&doorbell->sleeping, __ATOMIC_SEQ_CST) == 0)
		return;
	if (__atomic_exchange_n(&doorbell->sleeping, 0, __ATOMIC_SEQ_CST) != 0)
		(void)syscall(SYS_futex, &doorbell->sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void tako_doorbell_sleep(struct tako_shm_doorbell *doorbell, int64_t timeout_ns)
{
	struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
				   .tv_nsec = timeout_ns % 1000000000};
	(void)syscall(SYS_futex, &doorbell->sleeping, FUTEX_WAIT, 1, &timeout, NULL, 0);
}
