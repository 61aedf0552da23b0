package io.takofs.client;

/**
 * Space for file data, bytes.
 *
 * @param capacity of the data zone
 * @param used by files, writers and what was deleted and is not yet free
 * @param free for the taking
 */
public record Usage(long capacity, long used, long free) {}
