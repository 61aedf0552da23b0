/**
 * Tako, HDFS and the raw local file system side by side: the same operations through Hadoop's API,
 * or Hadoop's own jobs, interleaved in one run, with the processor time of clients and servers
 * beside each figure.
 */
package io.takofs.bench.compare;
