package io.takofs.server.namespace;

/** A file open for writing. */
public record OpenLease(long fileId, long clientId, long epoch) {}
