/** What the server says of itself, as text: for people, as JSON, for Prometheus. */
package io.takofs.server.report;
