package io.takofs.transport;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import java.io.IOException;

/**
 * Regions and queue pairs that may be used together: a remote key is good only for queue pairs of
 * the same domain.
 *
 * <p>Thread rule: any thread; registration is for set-up, never for the data path.
 */
public interface ProtectionDomain extends AutoCloseable {
  /** Allocates and registers {@code length} zeroed bytes, pre-faulted, page-aligned. */
  MemoryRegion allocate(int length, Access access) throws IOException;

  /**
   * Registers {@code length} bytes of a mapped file from {@code offset}; the file stays its
   * owner's.
   */
  MemoryRegion register(MappedMemory memory, long offset, int length, Access access)
      throws IOException;

  /**
   * Allocates a memory window, bound to nothing yet.
   *
   * @throws TakoException UNSUPPORTED where there are none
   */
  default MemoryWindow allocateWindow() throws TakoException {
    throw new TakoException(Status.UNSUPPORTED, "the transport has no memory windows");
  }

  @Override
  void close();
}
