/**
 * The log: an append-only chain of segments. Its interface is a replicated log's although a log may
 * have a single replica: entries are proposed, and applied in commit order.
 */
package io.takofs.server.log;
