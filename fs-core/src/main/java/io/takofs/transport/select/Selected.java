package io.takofs.transport.select;

/**
 * A connection, and how it came about.
 *
 * @param connection what the attempt made
 * @param verdict transport and reason for people, such as {@code shm: same host}
 */
public record Selected<T>(T connection, String verdict) {}
