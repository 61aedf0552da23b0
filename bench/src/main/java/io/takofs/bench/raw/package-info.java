/**
 * What transports cost without a file system on them: the verbs transport beside perftest, which is
 * what everybody measures RDMA devices with, and the shm transport by itself.
 */
package io.takofs.bench.raw;
