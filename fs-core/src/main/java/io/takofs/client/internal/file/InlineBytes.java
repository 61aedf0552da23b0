package io.takofs.client.internal.file;

import com.google.protobuf.ByteString;
import io.takofs.proto.CommitExtents;
import java.nio.ByteBuffer;

/**
 * The bytes after a file's extents, which a commit carries and the file's metadata keeps: all of a
 * small file, and the tail of another one, whose flush would cost a round trip to each replica.
 *
 * <p>Thread rule: one thread at a time.
 */
final class InlineBytes {
  private final byte[] bytes;
  private int size;
  private int committed;

  /**
   * The committed bytes, and room for others.
   *
   * @param max bytes that a file may keep in its metadata
   */
  InlineBytes(ByteString committed, int max) {
    this.bytes = new byte[Math.max(max, committed.size())];
    this.size = committed.size();
    this.committed = size;
    committed.copyTo(bytes, 0);
  }

  int size() {
    return size;
  }

  /** Bytes that still fit. */
  int room() {
    return bytes.length - size;
  }

  /** Appends the remaining bytes of {@code source}, at most {@link #room}. */
  void put(ByteBuffer source) {
    int count = source.remaining();
    source.get(bytes, size, count);
    size += count;
  }

  /** Takes all of them out, committed ones too: they are in extents after the next commit. */
  ByteBuffer take() {
    ByteBuffer taken = ByteBuffer.wrap(bytes, 0, size);
    size = 0;
    committed = 0;
    return taken;
  }

  /** Adds what is not committed to {@code commit}. */
  void addTo(CommitExtents.Builder commit) {
    if (size > committed) {
      commit.setInlineOffset(committed);
      commit.setInlineData(ByteString.copyFrom(bytes, committed, size - committed));
    }
  }

  /** A commit with {@link #addTo} succeeded. */
  void committed() {
    committed = size;
  }
}
