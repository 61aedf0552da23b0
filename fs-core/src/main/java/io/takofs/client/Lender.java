package io.takofs.client;

import io.takofs.base.SharedCleaner;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends a file's bytes where they lie. Each extent is held before it is looked at, and the server
 * is asked afterwards whether it is still the file's: from then on it is given to nobody, so what
 * was verified once stays so. Several extents are held ahead, so that not each takes a call. When
 * nobody can reach this or what it lent any more, nothing is held.
 *
 * <p>Thread rule: one thread at a time, which may wait for the server; {@link #takeBack} any
 * thread, and it does not.
 */
final class Lender {
  /** Extents that are held together. */
  static final int WINDOW = 16;

  private static final Logger LOG = LoggerFactory.getLogger(Lender.class);

  private final FileReader reader;
  private final Window window = new Window();
  private final IdentityHashMap<ByteBuffer, Cleaner.Cleanable> lent = new IdentityHashMap<>();

  Lender(FileReader reader) {
    this.reader = reader;
    SharedCleaner.register(this, window::letGo);
  }

  /** Extents that are held ahead. It does not know its lender, which it may outlive. */
  private static final class Window {
    private PoolFile file;
    private List<ExtentView> extents = List.of();

    /** The one at {@code position}; null when it is not here. */
    synchronized ExtentView find(PoolFile wanted, long position) {
      for (ExtentView extent : extents) {
        if (file == wanted && position >= extent.start() && position < extent.end()) {
          return extent;
        }
      }
      return null;
    }

    synchronized void letGo() {
      extents.forEach(extent -> file.letGo(extent.extent()));
      extents = List.of();
    }

    /** Takes over what its caller holds, when it has let go of what was here. */
    synchronized void fill(PoolFile of, List<ExtentView> held) {
      file = of;
      extents = held;
    }
  }

  /**
   * Bytes from {@code position} on, of one extent.
   *
   * @param verify whether to check them
   * @return null when they cannot be lent: they must be copied
   */
  ByteBuffer lend(long position, int lengthMax, boolean verify) throws TakoException {
    PoolFile file = reader.poolFile();
    ExtentView extent = file == null ? null : held(file, position);
    if (extent == null) {
      return null;
    }
    int offset = (int) (position - extent.start());
    int count = (int) Math.min(lengthMax, extent.end() - position);
    try {
      if (verify) {
        verify(extent, file.arena(extent.extent().getArena()), offset, count);
      }
      PoolFile.Loan loan = file.lend(extent.extent(), extent.arenaOffset() + offset, count);
      if (loan == null) {
        return null;
      }
      synchronized (lent) {
        lent.put(loan.bytes(), loan.end());
      }
      return loan.bytes();
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
  boolean takeBack(ByteBuffer bytes) {
    Cleaner.Cleanable end;
    synchronized (lent) {
      end = lent.remove(bytes);
    }
    if (end == null) {
      return false;
    }
    end.clean();
    return true;
  }

  /** Holds nothing any more but what is lent. */
  void letGo() {
    window.letGo();
  }

  /** The extent at {@code position}, held; null when there is none or it cannot be. */
  private ExtentView held(PoolFile file, long position) throws TakoException {
    ExtentView ahead = window.find(file, position);
    if (ahead != null) {
      return ahead;
    }
    window.letGo();
    List<ExtentView> held = new ArrayList<>();
    for (ExtentView extent : reader.known(position, WINDOW)) {
      if (!file.hold(extent.extent())) {
        break;
      }
      held.add(extent);
    }
    if (held.isEmpty()) {
      return null;
    }
    List<ExtentView> now = List.of(); // when the server says nothing
    try {
      now = reader.knownAgain(position, WINDOW);
    } finally {
      window.fill(file, confirmed(file, held, now));
    }
    return window.find(file, position);
  }

  /** What is held and still the file's, as it is {@code now}; lets go of the rest. */
  private static List<ExtentView> confirmed(
      PoolFile file, List<ExtentView> held, List<ExtentView> now) {
    List<ExtentView> confirmed = new ArrayList<>();
    for (int i = 0; i < held.size(); i++) {
      if (i < now.size() && isSame(held.get(i), now.get(i))) {
        confirmed.add(now.get(i)); // it may have become longer
      } else {
        file.letGo(held.get(i).extent());
      }
    }
    return confirmed;
  }

  private static boolean isSame(ExtentView before, ExtentView now) {
    return before.start() == now.start()
        && before.extent().getArena() == now.extent().getArena()
        && before.extent().getOffset() == now.extent().getOffset()
        && before.extent().getGeneration() == now.extent().getGeneration();
  }

  private static void verify(ExtentView extent, MappedMemory arena, int offset, int count)
      throws StaleExtentException {
    int[] checksums = extent.checksums();
    if (checksums == null) {
      byte[] entries = new byte[extent.checksumsSize()];
      arena.slice(extent.checksumsOffset(), entries.length).get(entries);
      checksums = extent.checksumsIn(entries);
    }
    int start = offset - offset % Layout.GRANULE_SIZE;
    ByteBuffer bytes = arena.slice(extent.arenaOffset() + start, extent.length() - start);
    extent.verify(checksums, bytes, offset, offset + count);
  }
}
