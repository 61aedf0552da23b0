package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Leadership;
import io.takofs.proto.LogEntry;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.peer.DataServers;
import io.takofs.server.slabs.BatchCopier;
import io.takofs.server.slabs.Compaction;
import io.takofs.server.slabs.FileMoves;
import io.takofs.server.slabs.ServerWatch;
import io.takofs.server.slabs.SlabLeases;
import io.takofs.server.slabs.SlabRepair;
import io.takofs.server.slabs.SlabSupply;

/**
 * The parts that one replicated log owns: its storage, the state machine that applies its entries,
 * the sessions, and the counters. It knows neither transports nor file data.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class LogGroup {
  /** The only group, until there are more. */
  private static final int ID = 1;

  final Clock clock;
  final ServerSettings settings;
  final GroupStorage storage;
  final DataServers servers;
  final Counters counters = new Counters();
  final OperationTimes times = new OperationTimes();
  private final StateMachine machine;
  private final Journal journal;
  private final ClientTable sessions;
  private final SafeMode safeMode;
  private final ServerWatch watch;
  private final SlabLeases leases;
  private final SlabSupply supply;
  private final SlabRepair repair;
  private final FileMoves moves;
  private final Compaction compaction;
  private Leadership leadership = Leadership.newBuilder().setGroup(ID).build();

  /**
   * @param servers that lend the group slabs
   */
  public LogGroup(Clock clock, ServerSettings settings, GroupStorage storage, DataServers servers) {
    this.clock = clock;
    this.settings = settings;
    this.storage = storage;
    this.machine = new StateMachine(storage.store());
    this.journal =
        new Journal(
            clock, storage.log(), storage.store(), machine, counters, settings.checkpointBytes());
    this.servers = new CommittedServers(servers, journal);
    this.sessions = new ClientTable(clock);
    this.safeMode = new SafeMode(machine);
    this.watch = new ServerWatch(clock, this.servers, settings.repair());
    this.leases =
        new SlabLeases(clock, this.servers, this::leadership, journal::execute, machine, watch);
    this.supply =
        new SlabSupply(clock, journal::execute, machine, leases, watch, settings.replicationMin());
    this.repair =
        new SlabRepair(clock, journal::execute, machine, leases, watch, settings.repair());
    BatchCopier copier = new BatchCopier(clock, journal::execute, machine, watch, repair);
    this.moves = new FileMoves(clock, journal::execute, machine, supply, watch, copier);
    this.compaction =
        new Compaction(clock, journal::execute, machine, supply, watch, repair, copier);
    repair.setMoving(copier::isCopying);
  }

  /**
   * Logs a new group's first entry, or the copies that are kept at most if that has changed, and
   * asks the servers what they hold for the group; after the log was replayed.
   *
   * @param term of this server as the leader, as the catalog tells it; 0 of a server without one
   * @throws TakoException when the log takes no entry, STALE_TERM when it has entries of a later
   *     term
   */
  public void begin(long term) throws TakoException {
    leadership = leadership.toBuilder().setTerm(Math.max(term, storage.epoch())).build();
    journal.lead(leadership.getTerm());
    if (machine.limits() == null
        || machine.limits().replicationMax() != settings.replicationMax()) {
      journal.execute(
          LogEntry.newBuilder()
              .setTimeMs(clock.currentTimeMillis())
              .setFormatGroup(settings.limits().toProto(ID))
              .build());
    }
    leases.tick();
  }

  /** The group and the term that each request to a data server names. */
  Leadership leadership() {
    return leadership;
  }

  public Clock clock() {
    return clock;
  }

  public ServerSettings settings() {
    return settings;
  }

  public long epoch() {
    return storage.epoch();
  }

  public StateMachine machine() {
    return machine;
  }

  public Journal journal() {
    return journal;
  }

  public ClientTable sessions() {
    return sessions;
  }

  public SafeMode safeMode() {
    return safeMode;
  }

  /** The watch over the data servers: which of them answer. */
  public ServerWatch watch() {
    return watch;
  }

  public SlabLeases leases() {
    return leases;
  }

  public SlabSupply supply() {
    return supply;
  }

  /** The repair of lost copies. */
  public SlabRepair repair() {
    return repair;
  }

  /** The moves of files that are to have another number of copies. */
  public FileMoves moves() {
    return moves;
  }

  /** Empties slabs of which little is used when their room is needed. */
  public Compaction compaction() {
    return compaction;
  }

  public Counters counters() {
    return counters;
  }

  /** Latencies of calls, by operation. */
  public OperationTimes times() {
    return times;
  }
}
