package io.takofs.server.namespace.state;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;

/**
 * The right to write a file. Its record is: client u64, epoch u64, parent id u64, name.
 *
 * @param epoch index of the log entry that gave it: later leases have larger ones
 * @param parentId with {@code name} where the file's inode is now
 */
public record Lease(long fileId, long clientId, long epoch, long parentId, byte[] name) {
  public static Lease decode(long fileId, byte[] value) {
    ByteReader in = new ByteReader(value);
    return new Lease(fileId, in.u64(), in.u64(), in.u64(), in.rest());
  }

  byte[] encode() {
    return new ByteWriter(24 + name.length)
        .u64(clientId)
        .u64(epoch)
        .u64(parentId)
        .raw(name)
        .toBytes();
  }
}
