package io.takofs.server.extent;

import java.util.Set;

/**
 * The space that a writer asks for.
 *
 * @param bytes for so many more
 * @param count extents at most
 * @param copies that the file is to have
 * @param near server that should have one of them; 0 for any
 * @param avoided servers that must have none of them
 */
public record Wanted(long bytes, int count, int copies, int near, Set<Integer> avoided) {}
