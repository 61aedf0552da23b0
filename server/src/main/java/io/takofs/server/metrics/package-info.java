/**
 * What the server measures, and how it is shown to programs: {@link
 * io.takofs.server.metrics.OperationTimes} is recorded under the server's lock, {@link
 * io.takofs.server.metrics.MetricsText} renders a status for Prometheus.
 */
package io.takofs.server.metrics;
