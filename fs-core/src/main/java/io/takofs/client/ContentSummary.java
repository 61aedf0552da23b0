package io.takofs.client;

/**
 * Counts of the files, directories and bytes at and below a path.
 *
 * @param length bytes of all files
 * @param fileCount files
 * @param directoryCount directories, the path itself included when it is one
 * @param spaceConsumed bytes of the pool that their data takes
 */
public record ContentSummary(
    long length, long fileCount, long directoryCount, long spaceConsumed) {}
