package io.takofs.server.log;

/**
 * The identity of the writer of a log.
 *
 * @param logId the log, fixed when its zone is first used
 * @param incarnation of the replica that opens it: how often its server has started
 * @param term of the leader; 1 while a log has a single replica
 */
public record LogIdentity(int logId, int incarnation, long term) {}
