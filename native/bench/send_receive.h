/*
 * A device that sends where it was asked to write with an immediate: two-sided messages under the
 * same core, so that nothing else differs.
 */
#ifndef TAKO_BENCH_SEND_RECEIVE_H
#define TAKO_BENCH_SEND_RECEIVE_H

#include "tako/device.h"

/* Receive buffers of a queue pair, one a connection: its qp_context. */
struct receive_buffer {
	uint64_t address;
	uint32_t length;
	uint32_t lkey;
};

/* The table over `device`, which it calls. Of the whole process. */
const struct tako_device_ops *send_receive_ops(const struct tako_device_ops *device);

#endif
