package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Leadership;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
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
 * A group at one of its members: its state, and what the leader does with it. It is made anew for
 * each time of leading, so that nothing of a former one goes on. It knows neither transports nor
 * file data.
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
  final Counters counters;
  final OperationTimes times;
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
  private boolean over; // another time of leading, or another leader, has come

  /**
   * @param servers that lend the group slabs
   */
  public LogGroup(GroupState state, DataServers servers) {
    this.clock = state.clock;
    this.settings = state.settings;
    this.storage = state.storage();
    this.counters = state.counters;
    this.times = state.times;
    this.machine = state.machine();
    this.journal = state.journal();
    this.servers = new CommittedServers(servers, journal, () -> over);
    this.sessions = state.clients();
    this.safeMode = new SafeMode(machine);
    this.watch = new ServerWatch(clock, this.servers, settings.repair());
    this.leases =
        new SlabLeases(clock, this.servers, this::leadership, this::execute, machine, watch);
    this.supply =
        new SlabSupply(clock, this::execute, machine, leases, watch, settings.replicationMin());
    this.repair = new SlabRepair(clock, this::execute, machine, leases, watch, settings.repair());
    BatchCopier copier = new BatchCopier(clock, this::execute, machine, watch, repair);
    this.moves = new FileMoves(clock, this::execute, machine, supply, watch, copier);
    this.compaction = new Compaction(clock, this::execute, machine, supply, watch, repair, copier);
    repair.setMoving(copier::isCopying);
  }

  /**
   * Logs a new group's first entry, or the copies that are kept at most if that has changed, and
   * asks the servers what they hold for the group; after the log was replayed.
   *
   * @param term of this server as the leader
   * @throws TakoException when the log takes no entry, STALE_TERM when it has entries of a later
   *     term, NOT_LEADER when another server leads by now
   */
  public void begin(long term) throws TakoException {
    leadership = leadership.toBuilder().setTerm(term).build();
    journal.lead(term);
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

  /** This server leads no more: what is under way ends here, and nothing of it is logged. */
  public void end() {
    over = true;
    journal.follow();
  }

  private Reply execute(LogEntry entry) throws TakoException {
    if (over) {
      throw new TakoException(
          Status.NOT_LEADER, "the server leads in term " + leadership.getTerm() + " no more");
    }
    return journal.execute(entry);
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
