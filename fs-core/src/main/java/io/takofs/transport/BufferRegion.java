package io.takofs.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A region over a Java buffer, with one key for both sides and an address of its own. */
public abstract class BufferRegion implements MemoryRegion {
  protected final ByteBuffer memory;
  private final long address;
  private final int key;
  protected final Access access;

  /**
   * @param memory position 0, limit its length; read as little-endian from now on
   * @param address of the first byte for peers, unique in the transport
   */
  protected BufferRegion(ByteBuffer memory, long address, int key, Access access) {
    this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
    this.address = address;
    this.key = key;
    this.access = access;
  }

  @Override
  public final ByteBuffer buffer() {
    return memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public final long address() {
    return address;
  }

  @Override
  public final int length() {
    return memory.capacity();
  }

  @Override
  public final int lkey() {
    return key;
  }

  @Override
  public final int rkey() {
    return key;
  }

  @Override
  public final Access access() {
    return access;
  }
}
