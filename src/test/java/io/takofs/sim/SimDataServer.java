package io.takofs.sim;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.server.DataServer;
import io.takofs.server.extent.Location;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.slabs.RepairSettings;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabTable;
import io.takofs.server.zone.SlabZone;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * A server that leads no group, in a simulated process, and its pool of small arenas, each of one
 * slab. A server that lost its pool starts as another server, with an id of its own.
 */
public final class SimDataServer extends SimMachine implements AutoCloseable {
  public static final int ARENAS = 4;
  public static final int ARENA_BYTES = 6 * Layout.UNIT_SIZE;

  private static final int CONNECTIONS_MAX = 64;
  private static final int LENT = 1; // the state LEASED of a slab's record
  private static final int LOG_BYTES = 96 << 10;
  private static final long TICK_MAX_NS = 50_000_000;

  /** Of all servers of simulations. */
  public static final ServerSettings SETTINGS =
      new ServerSettings(
          "root",
          "supergroup",
          true,
          1 << 20,
          1 << 20,
          3,
          1,
          LOG_BYTES,
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofMinutes(2),
          Duration.ofMillis(20),
          repair());

  /** Servers verify what they have so often that wrong copies are found while somebody looks. */
  private static RepairSettings repair() {
    RepairSettings usual = RepairSettings.defaults();
    return new RepairSettings(
        usual.deadInterval(),
        usual.startDelay(),
        usual.bandwidth(),
        usual.rebalance(),
        Duration.ofMinutes(2),
        0);
  }

  private final SimNetwork network;
  private final SimMap map;
  private final MappedMemory slabs;
  private final List<MappedMemory> arenas = new ArrayList<>();
  private final SimFlips flips = new SimFlips(ARENAS, this::arena);
  private BooleanSupplier mayLosePool = () -> false;
  private SimHolds holds = new SimHolds();
  private boolean seesReaders = true;
  private boolean keepsFences = true;
  private boolean keepsLeases = true;
  private BiFunction<SimDataServer, Request, Request> understood = (server, request) -> request;
  private SimFlips.Condition mayFlip = (arena, offset) -> false;
  private SlabTable table;
  private ServerDataZone zone;
  private DataServer server;
  private List<? extends SimMachine> machines = List.of();
  private long bytesLost;
  private int id;
  private final int arenaBytes;

  /**
   * A server whose pool is empty.
   *
   * @param map that has it
   * @param id its first; it gets another one whenever its pool is lost
   */
  public SimDataServer(SimNetwork network, Swarm swarm, SimMap map, int id) throws TakoException {
    this(network, swarm, map, id, ARENA_BYTES);
  }

  /**
   * A server whose pool is empty.
   *
   * @param arenaBytes of each arena
   */
  public SimDataServer(SimNetwork network, Swarm swarm, SimMap map, int id, int arenaBytes)
      throws TakoException {
    super(network.scheduler(), Integer.toString(id), !swarm.has(Fault.CLOCK_JUMP));
    this.arenaBytes = arenaBytes;
    this.network = network;
    this.map = map;
    this.id = id;
    this.slabs = MappedMemory.anonymous(Layout.POOL_ALIGN, true);
    for (int i = 0; i < ARENAS; i++) {
      arenas.add(MappedMemory.anonymous(arenaBytes, true));
    }
  }

  @Override
  public int id() {
    return id;
  }

  /** From its next start on leaders copy slabs to it, from {@code others}. */
  public void copyFrom(List<? extends SimMachine> others) {
    machines = others;
  }

  public SimHolds holds() {
    return holds;
  }

  /** Says when nothing is lost for good with the pool. */
  public void setMayLosePool(BooleanSupplier condition) {
    mayLosePool = condition;
  }

  /** A weakened server: it does not look for readers. */
  public void forgetReaders() {
    seesReaders = false;
  }

  /** A weakened server: one that starts again does not know whom it fenced. */
  public void forgetFences() {
    keepsFences = false;
  }

  /** A weakened server: one that starts again knows only the leases that are not over. */
  public void forgetLeases() {
    keepsLeases = false;
  }

  /**
   * A weakened server, which takes a leader's request for another one.
   *
   * @param understood the request that it executes
   */
  public void misunderstand(BiFunction<SimDataServer, Request, Request> understood) {
    this.understood = understood;
  }

  /** Whether a client gets no window to write under {@code grant}; as a client asks. */
  public boolean isFenced(Location extent, long lease, long grant) throws TakoException {
    return zone.isFenced(extent, lease, grant);
  }

  @Override
  public ByteBuffer arena(int index) {
    return arenas.get(index).slice(0, arenaBytes);
  }

  /** Bytes of its arenas that are not 0: of file data that came, all but the zeros in it. */
  public long bytesWritten() {
    long written = bytesLost;
    for (int i = 0; i < ARENAS; i++) {
      ByteBuffer memory = arena(i);
      for (int at = 0; at < arenaBytes; at++) {
        written += memory.get(at) == 0 ? 0 : 1;
      }
    }
    return written;
  }

  @Override
  protected void serve(SimProcess born) throws IOException {
    ByteBuffer[] pages = {slabs.slice(0, Layout.POOL_ALIGN)};
    forget(pages[0]);
    SlabZone slabZone = new SlabZone(pages, (slot, offset, length) -> persist(born));
    table = SlabTable.open(slabZone, arenas.stream().map(MappedMemory::length).toList());
    zone =
        new ServerDataZone(
            arenas,
            table,
            seesReaders ? holds : ReaderHolds.NONE,
            task -> scheduler().schedule(born, 0, task),
            () -> false);
    if (!machines.isEmpty()) {
      SimCopies.serve(network, this, zone, machines);
    }
    SimCluster cluster = new SimCluster(id, map);
    server = new DataServer(clock(), SETTINGS, epoch(), zone, cluster, CONNECTIONS_MAX);
    SimTransport transport = network.attach(born);
    server.serve(transport, acceptor -> transport.listen(endpoint(), acceptor));
    tick(born, server, TICK_MAX_NS);
  }

  /** A weakened server has lost a part of its records when it starts. */
  private void forget(ByteBuffer page) {
    for (int slot = 0; slot < ARENAS; slot++) {
      ByteBuffer record = page.slice(slot * Layout.SLAB_SLOT_SIZE, Layout.SLAB_SLOT_SIZE);
      if (!keepsFences) {
        clear(record.slice(Layout.SLAB_FENCES, Layout.SLAB_SLOT_SIZE - Layout.SLAB_FENCES));
      }
      if (!keepsLeases && !isLent(record, 0) && !isLent(record, Layout.SLAB_COPY_B)) {
        clear(record.slice(0, Layout.SLAB_FENCES));
      }
    }
  }

  private static boolean isLent(ByteBuffer record, int copy) {
    return record.get(copy + Layout.SLAB_RECORD_STATE_OFFSET) == LENT;
  }

  private void persist(SimProcess owner) {
    if (diesPersisting()) {
      owner.kill();
      throw new SimProcess.Killed(owner);
    }
  }

  /** Answers a leader, in the server's process. */
  public Reply handle(Request request) {
    Reply reply = zone.handle(understood.apply(this, request));
    zone.windows().post();
    server.tick();
    return reply;
  }

  @Override
  public List<MappedMemory> arenas() {
    return arenas;
  }

  @Override
  public int slabsHandedOut() {
    return table.size() - table.freeCount();
  }

  @Override
  public SimFlips flips() {
    return flips;
  }

  /** Bits of it may flip on {@code condition}. */
  public void letFlip(SimFlips.Condition condition) {
    mayFlip = condition;
  }

  @Override
  public void flipBit() {
    flips.flip(scheduler().random(), mayFlip);
  }

  @Override
  public void losePool() {
    if (!mayLosePool.getAsBoolean()) {
      return;
    }
    kill();
    bytesLost = bytesWritten();
    id = map.replace(id);
    holds = new SimHolds();
    flips.forget();
    clear(slabs.slice(0, Layout.POOL_ALIGN));
    for (int i = 0; i < ARENAS; i++) {
      clear(arena(i));
    }
  }

  private static void clear(ByteBuffer memory) {
    memory.put(0, new byte[memory.capacity()]);
  }

  @Override
  public void close() {
    kill();
    slabs.close();
    arenas.forEach(MappedMemory::close);
  }
}
