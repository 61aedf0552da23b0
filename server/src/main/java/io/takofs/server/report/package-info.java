/** Reports on the server, as text: for people, as JSON, for Prometheus. */
package io.takofs.server.report;
