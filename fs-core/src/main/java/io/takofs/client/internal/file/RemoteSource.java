package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import java.nio.ByteBuffer;

/** Transfers granules into registered buffers, verifies them there and copies what was asked. */
final class RemoteSource implements ExtentSource {
  private final ZoneAccess access;

  RemoteSource(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void read(ExtentView extent, Place place, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException {
    long deadline = access.deadline();
    FetchedGranules fetched =
        FetchedGranules.prepared(
            access.remote(), new FetchedGranules(extent, place, offset, count), deadline);
    try {
      fetched.post(access.remote(), deadline);
      while (!fetched.await(deadline)) {
        access.pause(deadline, fetched.failure());
        fetched.post(access.remote(), deadline);
      }
      fetched.verify();
      fetched.copy(offset, fetched.countFrom(offset, count), target);
    } finally {
      fetched.release();
    }
  }
}
