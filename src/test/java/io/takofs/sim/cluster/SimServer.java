package io.takofs.sim.cluster;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.ServerEntry;
import io.takofs.server.DataServer;
import io.takofs.server.GroupLookups;
import io.takofs.server.groups.StaticGroups;
import io.takofs.server.log.Log;
import io.takofs.server.log.SegmentedLog;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.DataServers;
import io.takofs.server.peer.LocalDataServer;
import io.takofs.server.peer.LoneCluster;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.store.PagedStore;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabTable;
import io.takofs.server.zone.SlabZone;
import io.takofs.sim.SimCalls;
import io.takofs.sim.SimCluster;
import io.takofs.sim.SimCopies;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimFlips;
import io.takofs.sim.SimMachine;
import io.takofs.sim.SimMap;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A data server in a simulated process, and its pool, which outlives it: a killed one leaves the
 * memory as its last store left it, without those bytes of an unfinished log frame that chance
 * takes away.
 */
final class SimServer extends SimMachine implements AutoCloseable {
  private static final long PAGES_BYTES = 8 << 20;
  private static final int LOG_SLOTS = 6;
  private static final int LOG_SLOT_BYTES = 96 << 10;
  private static final int CONNECTIONS_MAX = 64;

  /** The pool may be so large that connections wait for it to be registered. */
  private static final long REGISTERING_MAX_NS = 2_000_000_000;

  private final SimNetwork network;
  private final MappedMemory pages;
  private final MappedMemory log;
  private final MappedMemory slabs;
  private final MappedMemory data;
  private final Commits commits;
  private final SimMap map;
  private List<SimDataServer> others = List.of();
  private List<SimMachine> machines = List.of(this);
  private final SimFlips flips = new SimFlips(1, this::arena);
  private SlowCommits slow; // null when entries are committed at once
  private int mostOutstanding;
  private StateRules rules;
  private SlabTable table;
  private WeakServers servers = new WeakServers(WeakServers.Weakness.NONE);

  /** When the entries of its log are committed. */
  enum Commits {
    /** When they are proposed. */
    AT_ONCE,
    /** Later, and nobody may hear of them before. */
    LATER,
    /** Later, and the log says of each at once that it is. */
    LATER_THAN_SAID
  }

  /**
   * A server whose pool is empty.
   *
   * @param map that has it as the leader
   * @param dataBytes of the data zone
   * @param rightClock whether its clock is right
   */
  SimServer(SimNetwork network, SimMap map, long dataBytes, boolean rightClock, Commits commits)
      throws TakoException {
    super(network.scheduler(), Integer.toString(SimMap.LEADER), rightClock);
    this.network = network;
    this.map = map;
    this.commits = commits;
    Invariant.check(NativeLibrary.isAvailable(), "the pool is anonymous memory");
    this.pages = MappedMemory.anonymous(PAGES_BYTES, true);
    this.log = MappedMemory.anonymous((long) LOG_SLOTS * LOG_SLOT_BYTES, true);
    this.slabs = MappedMemory.anonymous(Layout.POOL_ALIGN, true);
    this.data = MappedMemory.anonymous(dataBytes, true);
    PagedStore.format(pages);
  }

  /** From the next start it leads a group whose slabs are at {@code servers}, too. */
  void lead(List<SimDataServer> servers) {
    others = List.copyOf(servers);
    machines = new ArrayList<>(servers);
    machines.add(this);
    others.forEach(server -> server.copyFrom(machines));
  }

  /** From the next start it reaches all data servers, itself as well, by {@code weak}. */
  void reach(WeakServers weak) {
    servers = weak;
  }

  @Override
  public int id() {
    return SimMap.LEADER;
  }

  @Override
  public ByteBuffer arena(int index) {
    return data.slice(0, Math.toIntExact(data.length()));
  }

  @Override
  public List<MappedMemory> arenas() {
    return List.of(data);
  }

  @Override
  public int slabsHandedOut() {
    return table.size() - table.freeCount();
  }

  @Override
  public SimFlips flips() {
    return flips;
  }

  /** Most entries of its log that were not committed at one time. */
  int mostOutstanding() {
    return mostOutstanding;
  }

  @Override
  public void flipBit() {
    flips.flip(scheduler().random(), (arena, offset) -> mayFlip(id(), arena, offset));
  }

  /** Whether a bit of a server may change, and all that was committed is somewhere still. */
  boolean mayFlip(int server, int arena, int offset) {
    return leads() && rules.mayFlip(server, arena, offset);
  }

  /** Fails when its records are not as they must be. */
  void checkRecords() {
    if (leads()) {
      rules.checkRecords();
    }
  }

  /** Fails when the bytes of one extent more are not as its record says. */
  void checkBytes() {
    if (leads()) {
      rules.checkBytes();
    }
  }

  /** Fails when a client must not store any more where it does. */
  void checkStore(MappedMemory arena, int offset, int length, long client) {
    if (leads()) {
      rules.checkStore(arena, offset, length, client);
    }
  }

  /** Whether it leads now, so that it has records. */
  boolean leads() {
    return isAlive() && rules != null;
  }

  /** While it leads: whether {@code file} has extents, and of each of them an intact copy. */
  boolean isWhole(long file) {
    return rules.isWhole(file);
  }

  /** Whether nothing is lost with the pool of {@code server}. */
  boolean canSpare(int server) {
    boolean allCommitted = slow == null || slow.outstanding() == 0;
    return leads() && allCommitted && rules.canSpare(server);
  }

  /** The repair that is to be done, and for which there is room; empty when nothing is left. */
  String lacking() {
    return rules.lacking(others, SimDataServer.ARENAS, ClusterSimulation.FOLLOWER_UNITS);
  }

  /** Replicas of slabs at a server. */
  long replicasAt(int server) {
    return rules.replicasAt(server);
  }

  /** Files whose data is to move. */
  int filesToMove() {
    return rules.filesToMove();
  }

  /** A namespace that is gone is nothing to look at. */
  @Override
  public void losePool() {}

  @Override
  protected void serve(SimProcess born) throws IOException {
    rules = null;
    PagedStore store = PagedStore.open(pages);
    Log entries = openLog(born, store);
    table = SlabTable.open(SlabZone.of(slabs), List.of(data.length()));
    ServerDataZone zone =
        new ServerDataZone(
            List.of(data),
            table,
            ReaderHolds.NONE,
            task -> scheduler().schedule(born, scheduler().delayNs(0, REGISTERING_MAX_NS), task),
            () -> false);
    SimCopies.serve(network, this, zone, machines);
    boolean alone = others.isEmpty();
    Cluster cluster = alone ? new LoneCluster() : new SimCluster(SimMap.LEADER, map);
    DataServer server =
        new DataServer(clock(), SimDataServer.SETTINGS, epoch(), zone, cluster, CONNECTIONS_MAX);
    DataServers peers =
        alone
            ? new LocalDataServer(ServerEntry.newBuilder().setId(1).build(), zone::handle)
            : new SimPeers(
                map,
                zone::handle,
                new SimCalls(network, born, others),
                () -> tick(born, server, Long.MAX_VALUE));
    server.lead(
        new GroupStorage(store, entries, epoch()),
        new GroupLookups(new StaticGroups(Map.of()), Runnable::run),
        servers.of(peers));
    if (slow != null) {
      SlowCommits log = slow;
      log.onCommit(
          () -> {
            mostOutstanding = Math.max(mostOutstanding, log.mostOutstanding());
            server.poll();
          });
    }
    SimTransport transport = network.attach(born);
    server.serve(transport, acceptor -> transport.listen(endpoint(), acceptor));
    tick(born, server, Long.MAX_VALUE);
    rules = new StateRules(store, entries::lastIndex, machines, network);
  }

  private Log openLog(SimProcess born, PagedStore store) throws TakoException {
    Log log =
        SegmentedLog.open(
            logZone(born), new LogIdentity(1, (int) epoch()), store.checkpointIndex());
    slow = null;
    if (commits == Commits.AT_ONCE) {
      return log;
    }
    slow = new SlowCommits(log, scheduler(), born, commits == Commits.LATER_THAN_SAID);
    born.atDeath(this::loseUncommitted);
    return slow;
  }

  private LogZone logZone(SimProcess owner) {
    ByteBuffer[] slots = new ByteBuffer[LOG_SLOTS];
    for (int i = 0; i < LOG_SLOTS; i++) {
      slots[i] = log.slice((long) i * LOG_SLOT_BYTES, LOG_SLOT_BYTES);
    }
    return new LogZone(
        slots,
        (slot, offset, length) -> {
          if (diesPersisting()) {
            if (offset >= Layout.SEGMENT_DATA_OFFSET) {
              tear(slots[slot], offset, length);
            }
            owner.kill(); // at once, because the server may handle what is thrown
            throw new SimProcess.Killed(owner);
          }
        });
  }

  /** Of what nobody was told that it is in the log, any part may be gone. */
  private void loseUncommitted() {
    for (int i = 0; i < LOG_SLOTS; i++) {
      tear(
          log.slice((long) i * LOG_SLOT_BYTES, LOG_SLOT_BYTES),
          Layout.SEGMENT_DATA_OFFSET,
          LOG_SLOT_BYTES - Layout.SEGMENT_DATA_OFFSET);
    }
  }

  /** Some words of the newest frames were never stored. */
  private void tear(ByteBuffer memory, int offset, int length) {
    int lost = scheduler().random().nextInt(4);
    ByteBuffer words = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int committed = words.getInt(Layout.SEGMENT_MARK_A);
    for (int i = Math.max(offset, committed); i < offset + length; i += Long.BYTES) {
      if (scheduler().random().nextInt(4) < lost) {
        words.putLong(i, 0);
      }
    }
  }

  @Override
  public void close() {
    kill();
    pages.close();
    log.close();
    slabs.close();
    data.close();
  }
}
