package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.GetExtents;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Cuts a file. The server does not look at data, so this says what the checksums of the extent that
 * is cut are afterwards.
 *
 * <p>Thread rule: one thread.
 */
public final class Truncation {
  /** Attempts: the file may change between the lookup and the cut. */
  private static final int ATTEMPTS = 10;

  private final Session session;
  private final FileAccess access;
  private final String path;
  private final long length;

  public Truncation(Session session, FileAccess access, String path, long length) {
    this.session = session;
    this.access = access;
    this.path = path;
    this.length = length;
  }

  public void run() throws TakoException {
    long left = Long.MAX_VALUE;
    for (int attempt = 1; left > length; attempt++) {
      try {
        Request.Builder request = Request.newBuilder().setTruncate(plan(attempt == ATTEMPTS));
        left = session.call("truncate", path, request).getFile().getLength();
        attempt = 0; // a file with very many extents is cut piece by piece
      } catch (TakoException e) {
        if (e.status() != Status.STALE_VERSION || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private Truncate.Builder plan(boolean isLast) throws TakoException {
    if (length < 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "truncate " + path + ": negative length " + length);
    }
    GetExtents.Builder last =
        GetExtents.newBuilder().setPath(path).setOffset(Math.max(length - 1, 0)).setLimit(1);
    ExtentMap map =
        session.call("truncate", path, Request.newBuilder().setGetExtents(last)).getExtentMap();
    Truncate.Builder truncate =
        Truncate.newBuilder()
            .setPath(path)
            .setLength(length)
            .setExpectedVersion(map.getFile().getVersion());
    for (Extent extent : map.getExtentsList()) {
      long kept = length - extent.getFileOffset();
      if (kept > 0 && kept < extent.getLength()) {
        truncate.setLastExtent(cut(extent, (int) kept, isLast));
      }
    }
    return truncate;
  }

  /**
   * Bytes that are wrong may be of an extent that moved meanwhile, unless it is the last attempt.
   */
  private Extent cut(Extent extent, int kept, boolean isLast) throws TakoException {
    ExtentView view = new ExtentView(extent, session.slabs().places(extent));
    int tail = kept % Layout.GRANULE_SIZE;
    ByteBuffer bytes = ByteBuffer.allocate(tail);
    try {
      access.source().readFromAny(view, kept - tail, tail, bytes);
    } catch (StaleExtentException e) {
      throw new TakoException(
          isLast ? Status.CORRUPT : Status.STALE_VERSION,
          "truncate " + path + " on " + session.server() + ": " + e.getMessage(),
          e);
    }
    CRC32C checksums = new CRC32C();
    checksums.update(view.checksumEntries().limit(kept / Layout.GRANULE_SIZE * Integer.BYTES));
    CRC32C partial = new CRC32C();
    partial.update(bytes.flip());
    return extent.toBuilder()
        .setLength(kept)
        .setChecksumsCrc((int) checksums.getValue())
        .setTailCrc((int) partial.getValue())
        .build();
  }
}
