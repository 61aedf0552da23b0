package io.takofs.server.namespace;

/** A session that may call. */
public record SessionInfo(long clientId, String user, String clientName, long openedMs) {}
