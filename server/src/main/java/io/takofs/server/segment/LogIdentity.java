package io.takofs.server.segment;

/**
 * The identity of a replica of a log.
 *
 * @param logId the log, fixed when its zone is first used
 * @param incarnation of the replica that opens it: how often its server has started
 */
public record LogIdentity(int logId, int incarnation) {}
