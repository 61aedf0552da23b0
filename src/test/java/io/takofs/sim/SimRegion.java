package io.takofs.sim;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import java.nio.ByteBuffer;

/** Registered memory of a simulated process. */
public final class SimRegion extends BufferRegion {
  private final SimDomain domain;
  private final MappedMemory file; // null when the memory is its own
  private final int fileOffset;
  private boolean closed;

  SimRegion(
      SimDomain domain,
      ByteBuffer memory,
      long address,
      int key,
      Access access,
      MappedMemory file,
      int fileOffset) {
    super(memory, address, key, access);
    this.domain = domain;
    this.file = file;
    this.fileOffset = fileOffset;
  }

  /** The one view that transfers use. */
  public ByteBuffer memory() {
    return memory;
  }

  public SimDomain domain() {
    return domain;
  }

  /** Whether the memory is the region's and not a file's. */
  boolean isOwn() {
    return file == null;
  }

  /** The file that it is a part of; null for memory of its own. */
  MappedMemory file() {
    return file;
  }

  /** The offset in the file at which it begins. */
  int fileOffset() {
    return fileOffset;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    domain.remove(this);
  }
}
