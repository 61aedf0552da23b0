package io.takofs.server.extent;

/** An extent that one client may write, for one file. */
public record Grant(Location location, int generation, long clientId, long fileId) {}
