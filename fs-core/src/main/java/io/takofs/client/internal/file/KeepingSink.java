package io.takofs.client.internal.file;

import io.takofs.client.internal.zone.Place;
import java.nio.ByteBuffer;

/**
 * Keeps bytes in the writer's memory, because they must not be written to their extent any more.
 */
final class KeepingSink implements ExtentSink {
  private final KeptBytes kept;

  KeepingSink(KeptBytes kept) {
    this.kept = kept;
  }

  @Override
  public void write(Place place, int offset, ByteBuffer source) {
    kept.add(place, offset, source);
    source.position(source.limit());
  }

  @Override
  public void writeChecksums(Place place, int granule, int[] crcs, int count) {
    // The writer knows them.
  }
}
