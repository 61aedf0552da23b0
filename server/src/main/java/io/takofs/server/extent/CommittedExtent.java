package io.takofs.server.extent;

/** The file to which a committed extent belongs, and the position of its first byte there. */
public record CommittedExtent(int unit, long fileId, long fileOffset) {}
