package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import java.nio.ByteBuffer;

/**
 * Reads verified bytes of extents, from one server.
 *
 * <p>Thread rule: any thread.
 */
interface ExtentSource {
  /**
   * Reads {@code count} bytes at {@code offset} within the extent, whose replica is at {@code
   * place}, into {@code target}, or fewer when memory is short, but no less than the rest of a
   * granule. The target's position moves after them only when all are verified.
   *
   * @throws StaleExtentException when they are not what was committed
   */
  void read(ExtentView extent, Place place, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException;
}
