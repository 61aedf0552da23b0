/*
 * The socket between the two processes: the measurement, then the connection data of both sides
 * (link.h), then questions of the client's process.
 */
#ifndef TAKO_BENCH_CONTROL_H
#define TAKO_BENCH_CONTROL_H

#include "call_bench.h"

enum { CONTROL_TEXT_MAX = 128 };

/* Sockets of two processes of this host. */
void control_pair(int sockets[2]);

/* Between two hosts; `address` is HOST:PORT, in numbers. */
int control_listen(const char *address);
int control_accept(int listener);
int control_connect(const char *address);

/* One text, up to CONTROL_TEXT_MAX bytes with its zero. */
void control_tell(int control, const char *text);
void control_hear(int control, char *text);

/* By the server's process: answers the client's until it ends; then `bench` is stopped. */
void control_serve(struct bench *bench, int control);

/* Asks the server's process for its cpu_ns(). */
int64_t control_server_cpu_ns(int control);

#endif
