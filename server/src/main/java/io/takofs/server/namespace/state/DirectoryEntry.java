package io.takofs.server.namespace.state;

/** An inode and where it hangs. The root's is (0, no name). */
public record DirectoryEntry(long parentId, byte[] name, Inode inode) {}
