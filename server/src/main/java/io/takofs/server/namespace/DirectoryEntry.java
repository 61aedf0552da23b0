package io.takofs.server.namespace;

/** An inode and where it hangs. The root's is (0, no name). */
record DirectoryEntry(long parentId, byte[] name, Inode inode) {}
