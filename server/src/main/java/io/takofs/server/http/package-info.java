/**
 * The server's HTTP endpoint: {@code /metrics}, {@code /health}, {@code /status} and pages for
 * people. Nothing can be changed through it. It has a thread of its own, and takes the server's
 * lock only to copy what a status says.
 */
package io.takofs.server.http;
