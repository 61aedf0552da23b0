package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.PoolFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends a file's bytes where they lie. Each extent is held before it is looked at, and the server
 * is asked afterwards whether it is still the file's: from then on it is given to nobody, so what
 * was verified once stays so. Several extents are held ahead, so that not each takes a call.
 *
 * <p>Thread rule: one thread at a time, which may wait for the server; {@link #takeBack} any
 * thread, and it does not.
 */
public final class Lender {
  /** Extents that are held together. */
  public static final int WINDOW = 16;

  private static final Logger LOG = LoggerFactory.getLogger(Lender.class);

  private final FileReader reader;
  private final IdentityHashMap<ByteBuffer, HeldExtent> lent = new IdentityHashMap<>();
  private List<HeldExtent> window = List.of();

  public Lender(FileReader reader) {
    this.reader = reader;
  }

  /**
   * Bytes from {@code position} on, of one extent.
   *
   * @param verify whether to check them
   * @return null when they cannot be lent: they must be copied
   */
  public ByteBuffer lend(long position, int lengthMax, boolean verify) throws TakoException {
    HeldExtent extent = held(position);
    if (extent == null) {
      return null;
    }
    int offset = (int) (position - extent.start());
    int count = (int) Math.min(lengthMax, extent.end() - position);
    try {
      if (verify) {
        extent.verify(offset, count);
      }
    } catch (StaleExtentException e) {
      // A copy finds out whether they are bad, and says so.
      LOG.debug("{} is copied: {}", reader.path(), e.getMessage());
      return null;
    }
    ByteBuffer bytes = extent.lend(offset, count);
    synchronized (lent) {
      lent.put(bytes, extent);
    }
    return bytes;
  }

  /**
   * Takes a buffer back, which must not be used any more; a second time it is nobody's.
   *
   * @return false when it was not lent
   */
  public boolean takeBack(ByteBuffer bytes) {
    HeldExtent extent;
    synchronized (lent) {
      extent = lent.remove(bytes);
    }
    if (extent == null) {
      return false;
    }
    extent.release();
    return true;
  }

  /** Holds nothing any more but what is lent. */
  public void release() {
    window.forEach(HeldExtent::release);
    window = List.of();
  }

  /** The extent at {@code position}, held; null when there is none or it cannot be. */
  private HeldExtent held(long position) throws TakoException {
    HeldExtent ahead = find(position);
    if (ahead != null && ahead.isPresent(reader)) {
      return ahead;
    }
    release();
    List<ExtentView> known = reader.known(position, WINDOW);
    Place first = known.isEmpty() ? null : reader.mappedPlace(known.get(0));
    PoolFile file = first == null ? null : reader.poolFile(known.get(0), first);
    return file == null ? null : held(file, first.server(), position, known);
  }

  /** Holds those of {@code known} that {@code server} has, up to the first that it has not. */
  private HeldExtent held(PoolFile file, int server, long position, List<ExtentView> known)
      throws TakoException {
    List<ExtentView> held = new ArrayList<>();
    for (ExtentView extent : known) {
      Place place = extent.placeOn(server);
      if (place == null || !file.hold(place)) {
        break;
      }
      held.add(extent);
    }
    if (held.isEmpty()) {
      return null;
    }
    List<HeldExtent> confirmed = new ArrayList<>();
    try {
      confirm(file, server, held, reader.knownAgain(position, WINDOW), confirmed);
    } finally {
      held.forEach(extent -> file.release(extent.placeOn(server)));
      window = confirmed;
    }
    return find(position);
  }

  private HeldExtent find(long position) {
    for (HeldExtent extent : window) {
      if (position >= extent.start() && position < extent.end()) {
        return extent;
      }
    }
    return null;
  }

  /** Moves what is still the file's, as it is now, perhaps longer; the rest stays. */
  private void confirm(
      PoolFile file,
      int server,
      List<ExtentView> held,
      List<ExtentView> now,
      List<HeldExtent> confirmed) {
    Iterator<ExtentView> before = held.iterator();
    for (ExtentView extent : now) {
      if (!before.hasNext()) {
        return;
      }
      HeldExtent kept =
          isSame(before.next(), extent, server) ? keep(file, extent, extent.placeOn(server)) : null;
      if (kept != null) {
        before.remove();
        confirmed.add(kept);
      }
    }
  }

  /** Null when it cannot be looked at. */
  private HeldExtent keep(PoolFile file, ExtentView extent, Place place) {
    try {
      return new HeldExtent(file, extent, place);
    } catch (IOException e) {
      LOG.debug("{} is copied: {}", reader.path(), e.getMessage());
      return null;
    }
  }

  private static boolean isSame(ExtentView before, ExtentView now, int server) {
    return before.start() == now.start()
        && before.placeOn(server).equals(now.placeOn(server))
        && before.extent().getGeneration() == now.extent().getGeneration();
  }
}
