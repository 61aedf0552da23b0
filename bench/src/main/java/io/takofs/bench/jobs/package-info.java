/** The five jobs everybody runs first, on any Hadoop file system, with their results checked. */
package io.takofs.bench.jobs;
