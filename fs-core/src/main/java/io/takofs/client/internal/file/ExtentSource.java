package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import java.nio.ByteBuffer;

/**
 * Reads verified bytes of extents.
 *
 * <p>Thread rule: any thread.
 */
interface ExtentSource {
  /**
   * Reads {@code count} bytes at {@code offset} within the extent into {@code target}, or fewer
   * when memory is short, but no less than the rest of a granule. The target's position moves after
   * them only when all are verified.
   *
   * @throws StaleExtentException when they are not what was committed
   */
  void read(ExtentView extent, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException;
}
