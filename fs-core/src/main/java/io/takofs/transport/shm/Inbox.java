package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The own inbox of a queue pair: a file that the peer maps, and that is locked by us for as long as
 * we may touch the peer's memory.
 */
final class Inbox {
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

  /** Tells the peer that none of its memory is mapped here any more. */
  void unlock() throws IOException {
    lock.close();
    Files.deleteIfExists(path);
  }
}
