/**
 * The five jobs that users usually run first, on any Hadoop file system, with their results
 * checked.
 */
package io.takofs.bench.jobs;
