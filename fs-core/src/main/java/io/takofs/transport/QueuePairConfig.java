package io.takofs.transport;

/**
 * Settings of a queue pair.
 *
 * @param domain whose regions its local buffers come from and its peer may address
 * @param sendQueue where its sends complete
 * @param receiveQueue where its receives complete; may be the same
 * @param maxSends sends outstanding at most
 * @param maxReceives receives posted at most
 */
public record QueuePairConfig(
    ProtectionDomain domain,
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    int maxSends,
    int maxReceives) {}
