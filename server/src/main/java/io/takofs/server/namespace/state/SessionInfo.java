package io.takofs.server.namespace.state;

/**
 * A session that may call.
 *
 * @param connectTimeoutMs how long one attempt of the client to connect may take; 0 from a client
 *     that did not say
 */
public record SessionInfo(
    long clientId, String user, String clientName, long openedMs, long connectTimeoutMs) {}
