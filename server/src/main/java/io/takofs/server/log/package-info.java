/**
 * Logs of segments: one of a server alone, and one that a leader writes into members' memory.
 * Entries are proposed, and applied in commit order.
 */
package io.takofs.server.log;
