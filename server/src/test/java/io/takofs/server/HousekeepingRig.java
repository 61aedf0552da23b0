package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.server.loggroup.ClientTable;
import io.takofs.server.loggroup.GrantPlacement;
import io.takofs.server.loggroup.GroupState;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.Housekeeping;
import io.takofs.server.loggroup.Journal;
import io.takofs.server.loggroup.LogGroup;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.peer.DataServers;
import io.takofs.server.peer.LocalDataServer;
import io.takofs.server.slabs.Compaction;
import io.takofs.server.slabs.FileMoves;
import io.takofs.server.slabs.RepairSettings;
import io.takofs.server.slabs.SlabLeases;
import io.takofs.server.slabs.SlabRepair;
import io.takofs.server.slabs.SlabSupply;
import io.takofs.server.store.CountingStore;
import io.takofs.server.store.Store;
import java.time.Duration;
import java.util.List;

/** Housekeeping of a server without connections, in simulated time. */
final class HousekeepingRig {
  private static final long START_NS = Duration.ofDays(20_000).toNanos();

  /** Time that the execution of an entry takes. */
  private static final long ENTRY_NS = 200_000;

  /** Time that passes with each look at the clock, so that it always goes on. */
  private static final long LOOK_NS = 1_000;

  static final Caller ROOT =
      Caller.newBuilder().setUser(TestServer.SUPERUSER).setSuperuser(true).build();

  private static ServerSettings settings(int replicationMax, int replicationMin) {
    return new ServerSettings(
        TestServer.SUPERUSER,
        "supergroup",
        true,
        128 << 20,
        1 << 20,
        replicationMax,
        replicationMin,
        64 << 20,
        Duration.ofSeconds(10),
        Duration.ofSeconds(60),
        Duration.ofMinutes(20),
        Duration.ofSeconds(2),
        RepairSettings.defaults());
  }

  final CountingStore store;
  final StateMachine machine;
  final MemoryLog log;
  final Journal journal;
  final ClientTable sessions;
  final SlabSupply supply;
  final SlabRepair repair;
  final FileMoves moves;
  final Compaction compaction;
  final SlabLeases leases;
  final Housekeeping housekeeping;
  int ticks;

  /** Most records that one tick looked at. */
  long visitedMax;

  private long nowNs;
  private long entriesTimed; // whose time has passed
  private long sequence;
  private final long term;
  private final ServerSettings settings;

  HousekeepingRig(Store store, List<Long> arenas) {
    this(store, new LentSlabs(arenas));
  }

  HousekeepingRig(Store store, LentSlabs slabs) {
    this(store, new LocalDataServer(ServerEntry.newBuilder().setId(1).build(), slabs), 1, 1);
  }

  /** A leader of {@code servers}. */
  HousekeepingRig(Store store, DataServers servers, int replicationMax, int replicationMin) {
    this(store, new MemoryLog(), servers, settings(replicationMax, replicationMin), 1, START_NS);
  }

  private HousekeepingRig(
      Store store,
      MemoryLog log,
      DataServers servers,
      ServerSettings settings,
      long term,
      long beginNs) {
    this.nowNs = beginNs;
    this.log = log;
    this.entriesTimed = log.lastIndex();
    this.term = term;
    this.settings = settings;
    Clock clock =
        new Clock() {
          @Override
          public long nanoTime() {
            nowNs += LOOK_NS + (log.lastIndex() - entriesTimed) * ENTRY_NS;
            entriesTimed = log.lastIndex();
            return nowNs;
          }

          @Override
          public long currentTimeMillis() {
            return nowNs / 1_000_000;
          }
        };
    this.store = new CountingStore(store);
    LogGroup group =
        new LogGroup(
            new GroupState(clock, settings, new GroupStorage(this.store, log, term)), servers);
    this.machine = group.machine();
    this.journal = group.journal();
    this.sessions = group.sessions();
    this.supply = group.supply();
    this.repair = group.repair();
    this.moves = group.moves();
    this.compaction = group.compaction();
    this.leases = group.leases();
    this.housekeeping = new Housekeeping(group);
    try {
      group.begin(term);
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  /** The next leader, which knows only what the state says; the time goes on. */
  HousekeepingRig restarted(DataServers servers) {
    journal.checkpoint();
    HousekeepingRig next = new HousekeepingRig(store, log, servers, settings, term + 1, nowNs);
    next.sequence = sequence;
    return next;
  }

  long nowMs() {
    return nowNs / 1_000_000;
  }

  void passMs(long millis) {
    nowNs += millis * 1_000_000;
  }

  /** One tick, and the pause after it. */
  void tick() {
    long before = store.visited();
    long pauseNs = housekeeping.tick(); // in which time passes, too
    nowNs += pauseNs;
    ticks++;
    visitedMax = Math.max(visitedMax, store.visited() - before);
  }

  /** A new session of the superuser. */
  long openSession() throws TakoException {
    Request open =
        Request.newBuilder()
            .setOpenSession(
                OpenSessionRequest.newBuilder().setUser(TestServer.SUPERUSER).setClientName("test"))
            .build();
    return execute(0, open).getSession().getClientId();
  }

  /** A new session of the superuser, whose client is on the host of {@code server} and stays. */
  long openSession(int server) throws TakoException {
    long client = openSession();
    sessions.recovered(client, Duration.ofHours(1).toNanos());
    sessions.client(client).nearServer = server;
    return client;
  }

  /** Logs a call, and acknowledges it with the next one. */
  Reply execute(long clientId, Request request) throws TakoException {
    return execute(clientId, request, GrantPlacement.NONE);
  }

  /** The same of a call that grants: the servers that its client does not reach are avoided. */
  Reply grant(long clientId, Request request) throws TakoException {
    return execute(clientId, request, housekeeping.makeRoomFor(ROOT, request, clientId));
  }

  private Reply execute(long clientId, Request request, GrantPlacement placement)
      throws TakoException {
    return journal.execute(
        LogEntry.newBuilder()
            .setClientId(clientId)
            .setSequence(++sequence)
            .setTimeMs(nowMs())
            .setCaller(ROOT)
            .setNearServer(placement.near())
            .addAllAvoidedServers(placement.avoided())
            .setRequest(request.toBuilder().setAcknowledgedBelow(sequence))
            .build());
  }
}
