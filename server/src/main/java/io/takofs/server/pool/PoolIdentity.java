package io.takofs.server.pool;

/**
 * The identity of a pool, and of its server in the cluster that it joined.
 *
 * @param poolId random, drawn at format
 * @param clusterId cluster that its server joined; 0 before that
 * @param serverId its server's number there; 0 before that
 */
public record PoolIdentity(long poolId, long clusterId, int serverId) {}
