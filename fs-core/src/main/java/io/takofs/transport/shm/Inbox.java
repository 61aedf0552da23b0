package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The own inbox of a queue pair: a file that the peer maps, and that is locked by us for as long as
 * we may touch the peer's memory.
 */
final class Inbox {
  private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);

  /** With which the name of every inbox begins, and of nothing else in a transport's directory. */
  static final String PREFIX = "inbox-";

  private final Path path;
  private final NativeFile lock;
  private final MappedMemory memory;

  Inbox(Path path, int receives) throws IOException {
    this.path = path;
    try (Undo undo = new Undo()) {
      MappedMemory.allocate(path, size(receives));
      undo.add(() -> Files.deleteIfExists(path));
      this.memory = undo.add(MappedMemory.map(path, 0, size(receives)));
      // Opened apart from the mapping, which would keep an open file, and so its lock, for as long
      // as it lives.
      this.lock = undo.add(NativeFile.open(path, NativeCore.OPEN_WRITE));
      if (!lock.tryLock()) {
        throw new TakoException(Status.INTERNAL, "a new inbox is locked by another: " + path);
      }
      undo.keep();
    }
  }

  /** Bytes of an inbox with {@code receives} entries. */
  static long size(int receives) {
    return Layout.SHM_INBOX_SIZE + (long) receives * Layout.SHM_RECEIVE_SIZE;
  }

  Path path() {
    return path;
  }

  long address() {
    return memory.address();
  }

  /**
   * Sets {@code revoked} in every inbox in {@code directory}, whose process is gone. The caller
   * executes a full fence before it looks at memory of that process, as {@code tako_qp_fail} does.
   *
   * <p>The word is written to the file, which is what peers have mapped, and not through a mapping:
   * this is repeated for as long as a peer is attached, and mappings stay until they are garbage.
   */
  static void revokeAll(Path directory) throws IOException {
    List<Path> inboxes;
    try (Stream<Path> entries = Files.list(directory)) {
      inboxes = entries.filter(entry -> entry.getFileName().toString().startsWith(PREFIX)).toList();
    }
    for (Path inbox : inboxes) {
      try {
        revoke(inbox);
      } catch (NoSuchFileException e) {
        LOG.debug("{} is gone: whoever removed it had revoked it", inbox);
      }
    }
  }

  private static void revoke(Path inbox) throws IOException {
    if (!Files.readAttributes(inbox, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .isRegularFile()) {
      return;
    }
    try (FileChannel file =
        FileChannel.open(inbox, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      // One that is shorter was never given its length, and so to no peer.
      if (file.size() >= Layout.SHM_INBOX_SIZE) {
        ByteBuffer word = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file.write(word.putInt(0, 1), Layout.SHM_INBOX_REVOKED_OFFSET);
      }
    }
  }

  /** Tells the peer that none of its memory is mapped here any more. */
  void unlock() throws IOException {
    lock.close();
    Files.deleteIfExists(path);
  }
}
