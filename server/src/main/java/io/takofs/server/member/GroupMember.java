package io.takofs.server.member;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.LogHandler;
import io.takofs.server.catalog.ClusterKeys;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.ReplicatedLog;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.KnownLeader;
import io.takofs.server.peer.PeerServers;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.store.PagedStore;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Transport;
import io.takofs.transport.select.TransportSelector;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a member of the group that has the namespace. Heartbeats, promises and elections
 * have a thread of their own, which never waits for the namespace's lock. When the log cannot be
 * continued, or there is no state at all, it takes over the checkpoint of another member, on a
 * thread that may wait.
 *
 * <p>Thread rule: any thread; start and close from one.
 */
public final class GroupMember implements Leader, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupMember.class);

  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long HAND_OVER_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final MemberSettings settings;
  private final Cluster cluster;
  private final KnownLeader known;
  private final MappedMemory memory;
  private final MappedMemory pages;
  private final LogTransports transports = new LogTransports();
  private final PageExports exports = new PageExports();
  private final long incarnation;
  private final LogReplica replica;
  private final ReplicatedLog log;
  private final LogDoor door;
  private final List<Thread> pollers = new ArrayList<>();
  private volatile Parts parts; // null before the start
  private volatile boolean wanted;
  private volatile boolean stopped;
  private final boolean hasState; // at the start
  private Thread thread;

  // Of the thread.
  private volatile long lastTerm; // in which this member led when it was looked
  private long warmedNs;
  private final ElectionLog elections = new ElectionLog();
  private boolean copyIsOld; // the catalog's, as was said

  /** What there is when the transports are. */
  private record Parts(
      LogMember member,
      MemberLinks links,
      MemberChange change,
      CheckpointTakeover takeover,
      MemberRenewal renewal,
      MapCatalog catalog,
      Owner owner) {}

  /** The owner of the log, who is told when something may have changed; it must not wait. */
  public interface Owner {
    /** Entries may have been committed, or reads proved. */
    void poll();

    /** This server leads, or leads no more, or there is something to apply. */
    void wantTick();

    /**
     * Gives up the state of the group and the store that it is in: when this returns, nobody uses
     * the page zone. It may wait.
     */
    void giveUpState();

    /** Has the state of {@code store} from now on, and what the log delivers after it. */
    void takeState(PagedStore store);

    /**
     * The log or the state here is damaged; or, by an empty text, it was and is whole again.
     *
     * @param what is damaged, and where
     */
    void damaged(String what);
  }

  /**
   * Opens the log in {@code memory}.
   *
   * @param known is told who leads
   * @param pages the page zone
   * @param checkpointIndex entries up to here are in the state; 0 for none
   * @param hasState whether there is one; else it is taken over from another member
   * @param writersAreGone as of {@link LogReplica#open}
   * @param damage that was found in the log: then nothing is read from it, and this member begins
   *     anew when no configuration counts it ({@link MemberRenewal}); null for none
   * @throws TakoException CORRUPT when the log is damaged and nothing was said of that
   */
  public GroupMember(
      MemberSettings settings,
      Cluster cluster,
      KnownLeader known,
      MappedMemory memory,
      MappedMemory pages,
      LogIdentity identity,
      long checkpointIndex,
      boolean hasState,
      BooleanSupplier writersAreGone,
      TakoException damage)
      throws TakoException {
    this.settings = settings;
    this.cluster = cluster;
    this.known = known;
    this.memory = memory;
    this.pages = pages;
    this.hasState = hasState;
    LogZone zone = LogZone.of(memory, 0, memory.length());
    this.incarnation = identity.incarnation();
    this.replica =
        damage == null
            ? LogReplica.open(0, zone, transports, identity, checkpointIndex, writersAreGone)
            : LogReplica.openDamaged(zone, transports, identity, writersAreGone, damage);
    this.log = new ReplicatedLog(replica, checkpointIndex);
    this.door = new LogDoor(cluster, replica, transports, exports, this::wake);
  }

  /** The log, whose owner proposes and delivers. */
  public ReplicatedLog log() {
    return log;
  }

  /** Lets the leader and candidates reach the log. */
  public LogHandler door() {
    return door;
  }

  /** The page zone as others read it over {@code transport}: a GiB a region but the last. */
  public List<MemoryRegion> pages(String transport) {
    return exports.regions(transport);
  }

  /**
   * Registers the log and the page zone with {@code transport}, over which members reach one
   * another from now on.
   *
   * @param undo takes that back
   */
  public void exportTo(Transport transport, Undo undo) throws IOException {
    LogTransport via = LogExport.register(memory, transport, undo);
    transports.add(via);
    undo.add(() -> transports.remove(via));
    PageExport zone = PageExport.register(pages, transport, undo);
    exports.add(zone);
    undo.add(
        () -> {
          exports.remove(zone);
          door.endReaders();
        });
    if (!via.queue().onEvent(this::completed) && !transport.mapsMemory()) {
      poll(via.queue(), transport.name());
    }
  }

  /** A thread for a transport that has none, and on which operations take a while. */
  private void poll(CompletionQueue queue, String name) {
    Thread poller =
        new Thread(
            () -> {
              while (!stopped) {
                queue.await(SECOND_NS);
                try {
                  completed();
                } catch (RuntimeException | Error e) { // else only ticks would see completions
                  LOG.error("completions of {} are looked at again", name, e);
                }
              }
            },
            "tako-log-" + name);
    poller.setDaemon(true);
    pollers.add(poller);
    poller.start();
  }

  private void completed() {
    Parts now = parts;
    if (now != null && !stopped) {
      now.member.pump();
      now.owner.poll();
      if (lastTerm == 0) {
        wake();
      }
    }
  }

  /**
   * Takes part in the group, as soon as this server is one of the cluster.
   *
   * @param calls of this alone
   * @param selector among the transports with which the log is registered
   * @param connecting threads that may wait
   */
  public void start(
      PeerServers calls,
      TransportSelector selector,
      ExecutorService connecting,
      MapChanges changes,
      Owner owner) {
    MemberLinks links =
        new MemberLinks(
            cluster,
            calls,
            transports,
            selector,
            connecting,
            settings.times().electionMaxNs(),
            this::wake);
    MapCatalog catalog = new MapCatalog(ClusterTopology.NAMESPACE_GROUP, cluster, changes);
    LogMember member =
        new LogMember(
            ClusterTopology.NAMESPACE_GROUP,
            replica,
            log,
            links,
            catalog,
            settings.times(),
            Clock.SYSTEM,
            new Random());
    MemberState state = new MemberState(replica, log, member, owner::giveUpState, hasState);
    CheckpointTakeover takeover =
        new CheckpointTakeover(
            state::needsCheckpoint,
            new TakeoverAttempt(
                links, exports, pages, cluster::serverId, state, owner::takeState, connecting),
            CheckpointTakeover.PAUSE_NS);
    parts =
        new Parts(
            member,
            links,
            new MemberChange(member, links, catalog, cluster, settings),
            takeover,
            new MemberRenewal(
                new MemberThatRenews(state, takeover, owner),
                catalog,
                changes,
                cluster,
                incarnation,
                connecting,
                MemberRenewal.PAUSE_NS),
            catalog,
            owner);
    parts.renewal.tick(Clock.SYSTEM.nanoTime()); // says what is damaged, before anybody is served
    connecting.execute(ClusterKeys::rehearse); // a leader signs a ticket for each session
    thread = new Thread(this::run, "tako-group-member");
    thread.setDaemon(true);
    thread.start();
  }

  private void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!stopped) {
      wanted = false;
      try {
        step(parts);
      } catch (RuntimeException | Error e) { // without this thread the group would have no leader
        LOG.error("a member of the group goes on after a failure", e);
      }
      if (!wanted && !stopped) {
        LockSupport.parkNanos(this, parts.member.pauseNs());
      }
    }
  }

  private void step(Parts now) {
    int self = cluster.serverId();
    if (self == 0) {
      return;
    }
    if (replica.server() == 0) {
      now.member.joined(self);
      if (now.catalog.read().members().equals(Set.of(self))) {
        now.member.stand(); // there is nobody to wait for
      }
    }
    now.links.deliver();
    now.member.tick();
    elections.look(now.member);
    int leader = known.server();
    known.sees(now.member.leader());
    if (known.server() != leader) {
      now.owner.wantTick(); // clients may wait for the next one
    }
    long nowNs = Clock.SYSTEM.nanoTime();
    if (nowNs - warmedNs >= SECOND_NS) {
      warmedNs = nowNs;
      GroupConfig config = now.catalog.read();
      List<Integer> sources =
          CheckpointTakeover.sources(known.server(), replica.promisedTo(), config, self);
      sources.forEach(now.links::warm); // all members, and one that is about to lead
      now.change.tick(nowNs);
      if (!now.renewal.isBusy()) {
        now.takeover.tick(nowNs, known.server(), sources);
      }
      now.renewal.tick(nowNs);
      tellOfAnOldCopy(now.catalog.read());
    }
    long term = now.member.leadingTerm();
    if (term != lastTerm || (term == 0 && log.hasNews())) {
      lastTerm = term;
      now.owner.wantTick();
    }
  }

  private void tellOfAnOldCopy(GroupConfig config) {
    boolean old = config.isCopiedBefore(replica.epoch());
    if (old && !copyIsOld) {
      LOG.error(
          "the catalog was made again from a copy with configuration {} of the group, and this member"
              + " has acted on configuration {}: it helps nobody to lead; make the catalog again from"
              + " a newer copy, each server has one (tako cluster restore-catalog)",
          config.copiedEpochs().get(0),
          replica.epoch());
    }
    copyIsOld = old;
  }

  /** This member, when it is damaged. */
  private final class MemberThatRenews implements MemberRenewal.Renewed {
    private final MemberState state;
    private final CheckpointTakeover takeover;
    private final Owner owner;

    MemberThatRenews(MemberState state, CheckpointTakeover takeover, Owner owner) {
      this.state = state;
      this.takeover = takeover;
      this.owner = owner;
    }

    @Override
    public TakoException damage() {
      return replica.damage();
    }

    @Override
    public void tell(TakoException damage) {
      LOG.error(
          "{}: this server keeps its file data, and takes no part in keeping the namespace; it"
              + " begins anew as a new member when the other ones go on without it",
          damage.getMessage());
      owner.damaged(damage.getMessage());
    }

    @Override
    public boolean isBusy() {
      return takeover.isBusy();
    }

    @Override
    public boolean renew(long epoch) throws TakoException {
      boolean whole =
          state.beginAnew(
              epoch, () -> PagedStore.format(pages), () -> owner.takeState(PagedStore.open(pages)));
      if (whole) {
        owner.damaged("");
      }
      return whole;
    }
  }

  // ---- what others ask --------------------------------------------------------------------------

  /** Answers a call of another member. Never waits. */
  public Reply handle(Request request) {
    Parts now = parts;
    if (now == null || replica.server() == 0) {
      return Reply.newBuilder()
          .setStatus(Status.UNAVAILABLE)
          .setMessage("this server is no member of a group yet")
          .build();
    }
    if (request.hasMoveLeader()) {
      boolean stands = now.member.stand(request.getMoveLeader().getTerm());
      wake();
      return stands
          ? Reply.newBuilder().setDone(true).build()
          : Reply.newBuilder()
              .setStatus(Status.BUSY)
              .setMessage("member " + replica.server() + " of the group cannot lead now")
              .build();
    }
    Reply reply = now.member.handle(request);
    wake();
    return reply;
  }

  @Override
  public long term() {
    Parts now = parts;
    return now == null ? 0 : now.member.leadingTerm();
  }

  @Override
  public Proof prove(long term) {
    LogMember member = parts.member;
    LogMember.ReadTicket ticket = member.beginRead();
    return ticket == null || ticket.term() != term ? () -> false : () -> member.isProven(ticket);
  }

  @Override
  public boolean hasLease(long term) {
    return parts.member.hasLease(term);
  }

  @Override
  public void moveTo(int server) throws TakoException {
    if (!parts.change.moveTo(server)) {
      throw new TakoException(
          Status.BUSY,
          "no other member of the group gets the log now (tako group status says why)");
    }
  }

  @Override
  public void replace(int leaves, int comes) throws TakoException {
    parts.change.replace(leaves, comes);
  }

  @Override
  public Optional<GroupStatus> status() {
    Parts now = parts;
    return now == null ? Optional.empty() : Optional.ofNullable(now.member.status());
  }

  /** A leader that stops has another member lead first, so that clients need not miss it. */
  private void handOver() {
    long limitNs = Clock.SYSTEM.nanoTime() + settings.times().electionMaxNs();
    try {
      if (term() == 0 || !parts.change.moveTo(0)) {
        return;
      }
    } catch (TakoException e) {
      return; // nobody in particular was asked for, so this cannot be
    }
    while (term() != 0 && Clock.SYSTEM.nanoTime() - limitNs < 0) {
      LockSupport.parkNanos(this, HAND_OVER_LOOK_NS);
    }
  }

  /** Takes part no more. The log stays open: its owner's last checkpoint trims it. */
  @Override
  public void close() {
    handOver();
    stopped = true;
    if (thread != null) {
      LockSupport.unpark(thread);
      Interrupts.join(thread);
      parts.takeover.close();
    }
    pollers.forEach(Interrupts::join);
    log.close();
  }
}
