package io.takofs.client;

import java.nio.ByteBuffer;

/**
 * A run of a file's bytes, and where they go.
 *
 * @param position in the file of the first byte
 * @param target its remaining space says how many; its position moves past the bytes read
 */
public record ReadRange(long position, ByteBuffer target) {}
