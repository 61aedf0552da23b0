package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends a file's bytes where they lie. Each extent is held before it is looked at, and the server
 * is asked afterwards whether it is still the file's: from then on it is given to nobody, so what
 * was verified once stays so. Several extents are held ahead, so that not each takes a call.
 *
 * <p>Thread rule: any thread.
 */
final class Lender {
  /** Extents that are held together. */
  static final int WINDOW = 16;

  private static final Logger LOG = LoggerFactory.getLogger(Lender.class);

  private final FileReader reader;
  private final IdentityHashMap<ByteBuffer, Loan> lent = new IdentityHashMap<>();
  private final List<ExtentView> window = new ArrayList<>();
  private PoolFile windowOf;

  /** What a buffer shows. */
  private record Loan(PoolFile file, ExtentView extent) {}

  Lender(FileReader reader) {
    this.reader = reader;
  }

  /**
   * Bytes from {@code position} on, of one extent.
   *
   * @param verify whether to check them
   * @return null when they cannot be lent: they must be copied
   */
  synchronized ByteBuffer lend(long position, int lengthMax, boolean verify) throws TakoException {
    PoolFile file = reader.poolFile();
    ExtentView extent = file == null ? null : held(file, position);
    if (extent == null) {
      return null;
    }
    int offset = (int) (position - extent.start());
    int count = (int) Math.min(lengthMax, extent.end() - position);
    try {
      ByteBuffer arena = file.arena(extent.extent().getArena());
      if (verify) {
        verify(extent, arena, offset, count);
      }
      ByteBuffer bytes = arena.slice(extent.arenaOffset() + offset, count);
      if (!file.hold(extent.extent())) {
        return null;
      }
      lent.put(bytes, new Loan(file, extent));
      return bytes;
    } catch (IOException | StaleExtentException e) {
      // A copy finds out whether they are bad, and says so.
      LOG.debug("{} is copied: {}", reader.path(), e.getMessage());
      return null;
    }
  }

  /**
   * Takes a buffer back, which must not be used any more; a second time it is nobody's.
   *
   * @return false when it was not lent
   */
  synchronized boolean takeBack(ByteBuffer bytes) {
    Loan loan = lent.remove(bytes);
    if (loan == null) {
      return false;
    }
    loan.file.letGo(loan.extent.extent());
    return true;
  }

  /** Holds nothing any more but what is lent. */
  synchronized void letGo() {
    window.forEach(extent -> windowOf.letGo(extent.extent()));
    window.clear();
    windowOf = null;
  }

  /** The extent at {@code position}, held; null when there is none or it cannot be. */
  private ExtentView held(PoolFile file, long position) throws TakoException {
    for (ExtentView extent : window) {
      if (windowOf == file && position >= extent.start() && position < extent.end()) {
        return extent;
      }
    }
    letGo();
    windowOf = file;
    for (ExtentView extent : reader.known(position, WINDOW)) {
      if (!file.hold(extent.extent())) {
        break;
      }
      window.add(extent);
    }
    if (window.isEmpty()) {
      return null;
    }
    List<ExtentView> now = confirmed(position);
    for (int i = window.size() - 1; i >= 0; i--) {
      if (i >= now.size() || !isSame(window.get(i), now.get(i))) {
        file.letGo(window.remove(i).extent());
      } else {
        window.set(i, now.get(i)); // it may have become longer
      }
    }
    return !window.isEmpty() && window.get(0).start() <= position ? window.get(0) : null;
  }

  /** What the server says of the extents that are held; when it says nothing, none is. */
  private List<ExtentView> confirmed(long position) throws TakoException {
    boolean answered = false;
    try {
      List<ExtentView> now = reader.knownAgain(position, WINDOW);
      answered = true;
      return now;
    } finally {
      if (!answered) {
        letGo();
      }
    }
  }

  private static boolean isSame(ExtentView before, ExtentView now) {
    return before.start() == now.start()
        && before.extent().getArena() == now.extent().getArena()
        && before.extent().getOffset() == now.extent().getOffset()
        && before.extent().getGeneration() == now.extent().getGeneration();
  }

  private static void verify(ExtentView extent, ByteBuffer arena, int offset, int count)
      throws StaleExtentException {
    int[] checksums = extent.checksums();
    if (checksums == null) {
      byte[] entries = new byte[extent.checksumsSize()];
      arena.get(extent.checksumsOffset(), entries);
      checksums = extent.checksumsIn(entries);
    }
    int start = offset - offset % Layout.GRANULE_SIZE;
    ByteBuffer bytes = arena.slice(extent.arenaOffset() + start, extent.length() - start);
    extent.verify(checksums, bytes, offset, offset + count);
  }
}
