/**
 * The server's metrics: {@link io.takofs.server.metrics.OperationTimes} is recorded under the
 * server's lock, {@link io.takofs.server.report.MetricsText} renders a status for Prometheus.
 */
package io.takofs.server.metrics;
