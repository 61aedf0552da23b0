package io.takofs.sim;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.DataServer;
import io.takofs.server.GroupLookups;
import io.takofs.server.groups.StaticGroups;
import io.takofs.server.log.LogIdentity;
import io.takofs.server.log.LogZone;
import io.takofs.server.log.SegmentedLog;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.store.PagedStore;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A data server in a simulated process, and its pool, which outlives it: a killed one leaves the
 * memory as its last store left it, without those bytes of an unfinished log frame that chance
 * takes away.
 */
final class SimServer implements AutoCloseable {
  static final String ENDPOINT = "sim:server";

  private static final long PAGES_BYTES = 8 << 20;
  private static final int LOG_SLOTS = 6;
  private static final int LOG_SLOT_BYTES = 96 << 10;
  private static final int CONNECTIONS_MAX = 64;

  /** The pool may be so large that connections wait for it to be registered. */
  private static final long REGISTERING_MAX_NS = 2_000_000_000;

  private static final ServerSettings SETTINGS =
      new ServerSettings(
          "root",
          "supergroup",
          true,
          1 << 20,
          1 << 20,
          LOG_SLOT_BYTES,
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofMinutes(2),
          Duration.ofMillis(20));

  private final SimNetwork network;
  private final SimScheduler scheduler;
  private final MappedMemory pages;
  private final MappedMemory log;
  private final MappedMemory data;
  private SimProcess process;
  private long epoch;
  private int persistsUntilKill = -1;
  private int kills;

  /**
   * A server whose pool is empty.
   *
   * @param dataBytes of the data zone
   */
  SimServer(SimNetwork network, long dataBytes) throws TakoException {
    this.network = network;
    this.scheduler = network.scheduler();
    Invariant.check(NativeLibrary.isAvailable(), "the pool is anonymous memory");
    this.pages = MappedMemory.anonymous(PAGES_BYTES, true);
    this.log = MappedMemory.anonymous((long) LOG_SLOTS * LOG_SLOT_BYTES, true);
    this.data = MappedMemory.anonymous(dataBytes, true);
    PagedStore.format(pages);
  }

  /** Number of its deaths. */
  int kills() {
    return kills;
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Starts a new incarnation; false when it was killed before it could serve. */
  boolean start() throws IOException {
    SimProcess born = new SimProcess("server");
    process = born;
    born.atDeath(() -> kills++);
    epoch++;
    try {
      serve(born);
      return true;
    } catch (SimProcess.Killed killed) {
      born.kill();
      return false;
    }
  }

  private void serve(SimProcess born) throws IOException {
    PagedStore store = PagedStore.open(pages);
    SegmentedLog segments =
        SegmentedLog.open(
            logZone(born), new LogIdentity(1, (int) epoch, 1), store.checkpointIndex());
    DataServer server =
        new DataServer(
            new SimClock(scheduler, born),
            SETTINGS,
            new GroupStorage(store, segments, epoch),
            new ServerDataZone(
                List.of(data),
                ReaderHolds.NONE,
                task -> scheduler.schedule(born, scheduler.delayNs(0, REGISTERING_MAX_NS), task),
                () -> false),
            new GroupLookups(new StaticGroups(Map.of()), Runnable::run),
            CONNECTIONS_MAX);
    server.recover();
    SimTransport transport = network.attach(born);
    server.serve(transport, acceptor -> transport.listen(ENDPOINT, acceptor));
    tick(born, server, 0);
  }

  private void tick(SimProcess owner, DataServer server, long delayNs) {
    scheduler.schedule(owner, delayNs, () -> tick(owner, server, server.tick().pauseNs()));
  }

  /** kill -9, now. */
  void kill() {
    process.kill();
  }

  /** kill -9 in the middle of the {@code count}th next step of writing the log. */
  void killAtLogStep(int count) {
    persistsUntilKill = count;
  }

  private LogZone logZone(SimProcess owner) {
    ByteBuffer[] slots = new ByteBuffer[LOG_SLOTS];
    for (int i = 0; i < LOG_SLOTS; i++) {
      slots[i] = log.slice((long) i * LOG_SLOT_BYTES, LOG_SLOT_BYTES);
    }
    return new LogZone(
        slots,
        (slot, offset, length) -> {
          if (persistsUntilKill >= 0 && persistsUntilKill-- == 0) {
            if (offset >= Layout.SEGMENT_DATA_OFFSET) {
              tear(slots[slot], offset, length);
            }
            throw new SimProcess.Killed(owner);
          }
        });
  }

  /** Some words of the newest frames were never stored. */
  private void tear(ByteBuffer memory, int offset, int length) {
    int lost = scheduler.random().nextInt(4);
    ByteBuffer words = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int committed = words.getInt(Layout.SEGMENT_MARK_A);
    for (int i = Math.max(offset, committed); i < offset + length; i += Long.BYTES) {
      if (scheduler.random().nextInt(4) < lost) {
        words.putLong(i, 0);
      }
    }
  }

  @Override
  public void close() {
    kill();
    pages.close();
    log.close();
    data.close();
  }
}
