package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.memory.MappedMemory;
import io.takofs.proto.ServerEntry;
import io.takofs.server.groups.GroupMapping;
import io.takofs.server.groups.StaticGroups;
import io.takofs.server.log.SegmentedLog;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.LocalDataServer;
import io.takofs.server.peer.LoneCluster;
import io.takofs.server.pool.Pool;
import io.takofs.server.pool.PoolSizes;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.slabs.RepairSettings;
import io.takofs.server.store.PagedStore;
import io.takofs.server.zone.HeapSlabs;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabTable;
import io.takofs.server.zone.SlabZone;
import io.takofs.transport.Transport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A data server over tcp with a clock of its own; ticks when told, and can die without a word. */
public final class TestServer implements AutoCloseable {
  static final String SUPERUSER = "root";

  /** bob is in the group staff, carol a superuser. */
  static final StaticGroups GROUPS =
      new StaticGroups(Map.of("bob", List.of("staff"), "carol", List.of("supergroup")));

  final ManualClock clock;
  final DataServer server;
  final ServerDataZone zone;
  final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final Pool pool;
  private final Transport.Listener listener;
  private boolean dead;

  TestServer(Path directory, ManualClock clock) throws IOException {
    this(directory, clock, PoolSizes.DATA_MIN);
  }

  TestServer(Path directory, ManualClock clock, long dataSize) throws IOException {
    this(directory, clock, dataSize, GROUPS, Runnable::run);
  }

  TestServer(
      Path directory, ManualClock clock, long dataSize, GroupMapping groups, Executor blocking)
      throws IOException {
    this(directory, clock, new Options(dataSize, groups, blocking, 1, new LoneCluster(), true));
  }

  /** A server whose pool seems to have {@code arenas} arenas; all of them are the same memory. */
  static TestServer withArenas(Path directory, ManualClock clock, int arenas) throws IOException {
    return new TestServer(
        directory,
        clock,
        new Options(PoolSizes.DATA_MIN, GROUPS, Runnable::run, arenas, new LoneCluster(), true));
  }

  /** A server of a cluster, which leads its group or no group. */
  static TestServer inCluster(Path directory, ManualClock clock, Cluster cluster, boolean leads)
      throws IOException {
    return new TestServer(
        directory,
        clock,
        new Options(PoolSizes.DATA_MIN, GROUPS, Runnable::run, 1, cluster, leads));
  }

  /** A server that leads when {@code leader} says so. */
  static TestServer ledBy(Path directory, ManualClock clock, Leader leader) throws IOException {
    return new TestServer(
        directory,
        clock,
        new Options(PoolSizes.DATA_MIN, GROUPS, Runnable::run, 1, new LoneCluster(), true),
        leader);
  }

  private record Options(
      long dataSize,
      GroupMapping groups,
      Executor blocking,
      int copies,
      Cluster cluster,
      boolean leads) {}

  private TestServer(Path directory, ManualClock clock, Options options) throws IOException {
    this(directory, clock, options, null);
  }

  private TestServer(Path directory, ManualClock clock, Options options, Leader leader)
      throws IOException {
    int copies = options.copies;
    this.clock = clock;
    pool =
        Pool.openOrFormat(
            directory, new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, options.dataSize));
    List<MappedMemory> arenas =
        copies == 1 ? pool.arenas() : Collections.nCopies(copies, pool.arenas().get(0));
    ServerSettings settings =
        new ServerSettings(
            SUPERUSER,
            "supergroup",
            true,
            128 << 20,
            1 << 20,
            1,
            1,
            1 << 20,
            Duration.ofSeconds(10),
            Duration.ofSeconds(60),
            Duration.ofMinutes(20),
            Duration.ofSeconds(2),
            RepairSettings.defaults());
    zone =
        new ServerDataZone(
            arenas, slabs(arenas, copies), ReaderHolds.NONE, Runnable::run, () -> false);
    server = new DataServer(clock, settings, pool.epoch(), zone, options.cluster, 16);
    if (options.leads) {
      GroupStorage storage = storage();
      server.join(
          storage,
          leader == null ? new OnlyMember(options.cluster, storage.epoch()) : leader,
          new GroupLookups(options.groups, options.blocking),
          new LocalDataServer(ServerEntry.newBuilder().setId(1).build(), zone::handle));
    }
    listener = server.serve(transport, acceptor -> transport.listen("127.0.0.1:0", acceptor));
  }

  /** The state and the log as they are in the pool. */
  GroupStorage storage() throws IOException {
    PagedStore store = PagedStore.open(pool.pages());
    SegmentedLog log =
        SegmentedLog.open(
            LogZone.of(pool.log(), 0, pool.log().length()),
            new LogIdentity(1, (int) pool.epoch()),
            store.checkpointIndex());
    return new GroupStorage(store, log, pool.epoch());
  }

  private SlabTable slabs(List<MappedMemory> arenas, int copies) throws IOException {
    List<Long> lengths = arenas.stream().map(MappedMemory::length).toList();
    return copies == 1
        ? SlabTable.open(SlabZone.of(pool.slabs()), lengths)
        : HeapSlabs.table(lengths);
  }

  /** Waits until {@code condition} holds, for a minute at most. */
  public static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("still waiting").isLessThan(0);
      LockSupport.parkNanos(100_000);
    }
  }

  String endpoint() {
    return listener.endpoint();
  }

  /** The first arena. */
  MappedMemory arena() {
    return pool.arenas().get(0);
  }

  /** A copy of bytes of the first arena. */
  byte[] arenaBytes(int offset, int length) {
    byte[] bytes = new byte[length];
    pool.arenas().get(0).slice(offset, length).get(bytes);
    return bytes;
  }

  long epoch() {
    return pool.epoch();
  }

  /** Lets {@code millis} pass, ticking four times a second. */
  void pass(long millis) {
    for (long passed = 0; passed < millis; passed += 250) {
      clock.advanceMillis(250);
      server.tick();
    }
  }

  /** The process dies: nothing is finished, nothing is written. */
  void kill() {
    if (!dead) {
      dead = true;
      listener.close();
      transport.close();
      pool.close();
    }
  }

  @Override
  public void close() {
    if (!dead) {
      dead = true;
      listener.close();
      server.close();
      transport.close();
      pool.close();
    }
  }
}
