package io.takofs.transport.verbs;

/**
 * Capacities of a queue pair.
 *
 * @param maxSends send work requests outstanding
 * @param maxReceives receive work requests posted
 * @param maxScatterGather elements of a work request
 * @param maxInline bytes sent inline
 */
record QueuePairCaps(int maxSends, int maxReceives, int maxScatterGather, int maxInline) {}
