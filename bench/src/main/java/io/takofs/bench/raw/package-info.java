/**
 * The cost of transports without a file system on them: the verbs transport beside perftest, which
 * is the usual tool to measure RDMA devices, and the shm transport by itself.
 */
package io.takofs.bench.raw;
