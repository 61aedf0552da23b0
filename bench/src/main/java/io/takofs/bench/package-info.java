/** Benchmarks: Tako, HDFS and the local file system side by side in one run. */
package io.takofs.bench;
