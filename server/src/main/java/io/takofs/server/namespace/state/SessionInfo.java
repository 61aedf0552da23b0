package io.takofs.server.namespace.state;

/** A session that may call. */
public record SessionInfo(long clientId, String user, String clientName, long openedMs) {}
