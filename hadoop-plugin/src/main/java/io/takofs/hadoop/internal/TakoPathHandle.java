package io.takofs.hadoop.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.InvalidPathHandleException;
import org.apache.hadoop.fs.PathHandle;

/**
 * A reference to a file, and the changes since then that it accepts. Its bytes: format u8, flags u8
 * (1 content may change, 2 it may move), parent id, id and version u64, name in UTF-8.
 *
 * @param name the server's name of the path
 * @param file identity of the file and version of its content
 * @param mayChange whether its content may be another by now
 * @param mayMove whether its path may be another by now
 */
record TakoPathHandle(String name, FileIdentity file, boolean mayChange, boolean mayMove)
    implements PathHandle {
  private static final long serialVersionUID = 1;
  private static final byte FORMAT = 1;
  private static final int CHANGE = 1;
  private static final int MOVE = 2;

  /** Decodes {@code handle}, which may come from another process. */
  static TakoPathHandle of(PathHandle handle) throws InvalidPathHandleException {
    if (handle instanceof TakoPathHandle own) {
      return own;
    }
    ByteBuffer bytes = handle.bytes().duplicate();
    try {
      if (bytes.get() != FORMAT) {
        throw new InvalidPathHandleException("a path handle of another file system or version");
      }
      int flags = bytes.get();
      FileIdentity file = new FileIdentity(bytes.getLong(), bytes.getLong(), bytes.getLong());
      String name = UTF_8.decode(bytes).toString();
      return new TakoPathHandle(name, file, (flags & CHANGE) != 0, (flags & MOVE) != 0);
    } catch (BufferUnderflowException e) {
      throw new InvalidPathHandleException("a path handle that is cut off", e);
    }
  }

  @Override
  public ByteBuffer bytes() {
    byte[] encoded = name.getBytes(UTF_8);
    return ByteBuffer.allocate(2 + 3 * Long.BYTES + encoded.length)
        .put(FORMAT)
        .put((byte) ((mayChange ? CHANGE : 0) | (mayMove ? MOVE : 0)))
        .putLong(file.parentId())
        .putLong(file.id())
        .putLong(file.version())
        .put(encoded)
        .flip()
        .asReadOnlyBuffer();
  }
}
