/** Hadoop's own daemons, as processes of this machine. */
package io.takofs.bench.hadoop;
