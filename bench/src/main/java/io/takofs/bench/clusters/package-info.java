/** Benchmarks of clusters: the cost of many servers for a client, and the repair of copies. */
package io.takofs.bench.clusters;
