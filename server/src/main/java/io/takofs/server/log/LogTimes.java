package io.takofs.server.log;

/**
 * The times of elections, nanoseconds.
 *
 * @param heartbeatNs between two heartbeats of a leader
 * @param electionMinNs a member misses its leader after this at the earliest
 * @param electionMaxNs and after this at the latest; each time is drawn between the two
 * @param retryNs between two attempts to bring a member in
 */
public record LogTimes(long heartbeatNs, long electionMinNs, long electionMaxNs, long retryNs) {}
