package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.loggroup.GroupState;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.loggroup.LogGroup;
import io.takofs.server.loggroup.SlabReport;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.DataServers;
import io.takofs.server.snapshot.SnapshotSource;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A group of which this server is a member: {@link DataServerCore} under one lock, for the clients
 * that have a session with it while it leads. There is none while the state is taken over from
 * another member: then calls are answered as by a server that leads nothing.
 *
 * <p>Thread rule: any thread.
 */
final class GroupServer implements RpcHandler {
  private static final Logger LOG = LoggerFactory.getLogger(GroupServer.class);

  private static final String NO_STATE =
      "this server has no state of the namespace yet: it takes over a checkpoint of another member"
          + " of the group; its log says how that goes on";

  /** Pause between two ticks without a state. */
  private static final long STATELESS_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time for which a page waits until what it shows is committed, and proved to be the newest. */
  private static final long PROOF_WAIT_MS = 2000;

  private final ReentrantLock lock = new ReentrantLock();
  private final BoundedLock boundedLock;
  private final SteadyClock clock;
  private final GroupState state;
  private final Leader leader;
  private final ServerDataZone zone;
  private final DataServers servers;
  private final GroupLookups lookups;
  private final WriteWindows windows;
  private final ReplyCompletion completion;
  private final ClusterPoll poll;
  private final GroupSnapshots snapshots;
  private final Supplier<Reply> bareStatus;
  private final FollowerHandler withoutState;
  private final WaitingSessions waiting = new WaitingSessions();
  private volatile Runnable tickWanted = () -> {};
  private volatile Reply lastStatus;

  /** Somebody wanted a look at what is committed while another held the lock. */
  private volatile boolean pollWanted;

  private DataServerCore core; // null while there is no state
  private SlabReport slabReport; // of the core
  private final List<Long> toFence = new ArrayList<>(); // clients
  private boolean closed;

  /**
   * @param servers that keep the slabs of the group
   * @param completion adds to each reply what is not the group's
   * @param source holds checkpoints for other members
   * @param bareStatus the status of a server without a group
   */
  GroupServer(
      GroupState state,
      Leader leader,
      ServerDataZone zone,
      GroupLookups lookups,
      SteadyClock clock,
      DataServers servers,
      ReplyCompletion completion,
      SnapshotSource source,
      Supplier<Reply> bareStatus) {
    this.clock = clock;
    this.boundedLock = new BoundedLock(lock, clock);
    this.state = state;
    this.leader = leader;
    this.zone = zone;
    this.servers = servers;
    this.lookups = lookups;
    this.windows = zone.windows();
    this.completion = completion;
    this.poll =
        new ClusterPoll(
            completion.cluster(), servers, completion.report(), clock, this::groupReport);
    this.snapshots = new GroupSnapshots(source);
    this.bareStatus = bareStatus;
    this.withoutState =
        new FollowerHandler(
            completion.cluster(),
            () -> {
              Reply whole = completion.process().complete(statusWithoutState());
              return completion.report().build(whole.getServerStatus());
            });
    if (state.store() != null) {
      makeCore();
    }
  }

  private ClusterStatus groupReport() {
    if (core == null) {
      return ClusterStatus.getDefaultInstance();
    }
    ClusterStatus.Builder report = slabReport.build().toBuilder();
    leader.status().ifPresent(report::setGroup);
    return report.build();
  }

  private void makeCore() {
    snapshots.use(state.store());
    LogGroup group = new LogGroup(state, servers);
    slabReport = new SlabReport(group);
    core = new DataServerCore(group, leader, clock, zone, lookups.groups(), completion.cluster());
  }

  /**
   * Replays the log, and begins to lead if this server is known to; before any call.
   *
   * @throws TakoException when the log cannot be applied
   */
  void recover() throws TakoException {
    if (core == null) {
      lastStatus = statusWithoutState();
      return;
    }
    core.recovered(state.journal().recover());
    core.beginOnceLeading();
    lastStatus = core.status(); // the first to ask may not wait either
  }

  /**
   * Gives up the state: when this returns, nobody uses the store. Calls without an answer are
   * refused.
   */
  void giveUpState() {
    List<FencedReply> unanswered = List.of();
    lock.lock();
    try {
      if (core != null) {
        unanswered = endCore();
        core = null;
        slabReport = null;
        snapshots.use(null);
        state.giveUp();
        lastStatus = statusWithoutState();
      }
    } finally {
      lock.unlock();
    }
    refuse(unanswered);
  }

  /** Has the state of {@code storage} from now on. */
  void takeState(GroupStorage storage) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      state.take(storage);
      makeCore();
      lastStatus = core.status();
    } finally {
      lock.unlock();
    }
    tickWanted.run();
  }

  /** A member asks for the last checkpoint here; it is answered soon. Waits for nobody. */
  void onSnapshotCall(IncomingCall call) {
    snapshots.add(call);
    poll();
  }

  /** Runs {@code listener} when {@link #tick} should be called soon. */
  void onTickWanted(Runnable listener) {
    tickWanted = listener;
  }

  /**
   * The state after a tick.
   *
   * @param pauseNs until the next one is wanted
   * @param failure of the log or of the memory after which no call is executed, or null
   * @param toFence clients whose connections to the data zone must end
   */
  record Tick(long pauseNs, String failure, List<Long> toFence) {}

  /** Does what is due. */
  Tick tick() {
    List<FencedReply> replies = new ArrayList<>();
    List<FencedReply> unanswered;
    List<Runnable> answers = new ArrayList<>();
    List<IncomingCall> due;
    Tick tick;
    lock.lock();
    try {
      if (closed) {
        return new Tick(Long.MAX_VALUE, null, List.of());
      }
      poll.tick();
      snapshots.tick();
      snapshots.answer(state, answers);
      if (core == null) {
        tick = new Tick(STATELESS_NS, null, List.copyOf(toFence));
        unanswered = List.of();
      } else {
        unanswered = endIfOver();
        long pauseNs = core.onTick();
        core.poll(replies);
        toFence.addAll(core.clientsToFence());
        tick = new Tick(pauseNs, core.failure(), List.copyOf(toFence));
      }
      toFence.clear();
      due = waiting.take(!isLeaderAwaited(), clock.nanoTime());
    } finally {
      lock.unlock();
    }
    answers.forEach(Runnable::run);
    refuse(unanswered);
    send(replies);
    if (!due.isEmpty()) {
      execute(due, false);
    }
    pollIfWanted();
    return tick;
  }

  /**
   * Sends what waited for entries that are committed by now, and begins or ends to lead; on any
   * thread, when one of them may be due. It waits for nobody: who holds the lock does it then.
   */
  void poll() {
    pollWanted = true;
    pollIfWanted();
  }

  private void pollIfWanted() {
    while (pollWanted && lock.tryLock()) {
      List<FencedReply> replies = new ArrayList<>();
      List<FencedReply> unanswered = List.of();
      List<Runnable> answers = new ArrayList<>();
      try {
        pollWanted = false;
        if (!closed) {
          snapshots.answer(state, answers);
        }
        if (!closed && core != null) {
          unanswered = endIfOver();
          core.poll(replies);
        }
      } finally {
        lock.unlock();
      }
      answers.forEach(Runnable::run);
      refuse(unanswered);
      send(replies);
    }
  }

  /** Another core takes the place of one that is over; returns the calls without an answer. */
  private List<FencedReply> endIfOver() {
    if (!core.isOver()) {
      return List.of();
    }
    List<FencedReply> unanswered = endCore();
    if (core.hasDiverged()) {
      try {
        int count = state.reopen();
        LOG.info("the state was made again from the last checkpoint and {} entries", count);
      } catch (TakoException e) {
        state.journal().stop("the state cannot be made again: " + e.getMessage());
      }
    }
    makeCore();
    return unanswered;
  }

  private List<FencedReply> endCore() {
    List<FencedReply> unanswered = core.end();
    toFence.addAll(core.clientsToFence());
    return unanswered;
  }

  /** Whether the calls were executed shows when they are sent again, to whoever leads. */
  private void refuse(List<FencedReply> unanswered) {
    if (!unanswered.isEmpty()) {
      Reply refusal = ClusterCalls.notLeader(completion.cluster());
      unanswered.forEach(each -> each.call().reply(refusal));
    }
  }

  private void send(List<FencedReply> replies) {
    windows.post();
    for (FencedReply reply : replies) {
      reply.send(windows, completion);
    }
  }

  /** As {@link Tick#failure}, for a caller whose tick threw instead. */
  String failure() {
    lock.lock();
    try {
      return core == null ? null : core.failure();
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@code clientId} has a session. */
  boolean hasSession(long clientId) {
    lock.lock();
    try {
      return state.clients().find(clientId) != null;
    } finally {
      lock.unlock();
    }
  }

  /** Makes a last checkpoint; no call is answered afterwards. */
  void close() {
    lock.lock();
    try {
      closed = true;
      if (core != null) {
        core.checkpoint();
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- what the server's pages show -------------------------------------------------------------

  /**
   * The status without the transports.
   *
   * @throws TakoException UNAVAILABLE when the group is stuck; after a bounded time
   */
  Reply status() throws TakoException {
    boundedLock.lock();
    return statusAndUnlock();
  }

  /** As {@link #status} for those that must not wait: the last one when somebody holds the lock. */
  Reply statusAtOnce() {
    return lock.tryLock() ? statusAndUnlock() : lastStatus;
  }

  private Reply statusAndUnlock() {
    try {
      Reply status = core == null ? statusWithoutState() : core.status();
      lastStatus = status;
      return status;
    } finally {
      lock.unlock();
    }
  }

  private Reply statusWithoutState() {
    Reply bare = bareStatus.get();
    return bare.toBuilder()
        .setServerStatus(bare.getServerStatus().toBuilder().setWarning(NO_STATE))
        .build();
  }

  /** As {@link io.takofs.server.http.ServerView#query}. */
  Reply query(String user, Request request) throws TakoException {
    lookups.await(user);
    CompletableFuture<Boolean> proven;
    Reply reply;
    boundedLock.lock();
    try {
      if (core == null) {
        throw new TakoException(Status.UNAVAILABLE, NO_STATE);
      }
      reply = core.query(user, request);
      proven = core.whenProven();
    } finally {
      lock.unlock();
    }
    pollIfWanted();
    if (isGivenSoon(proven)) {
      return reply;
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "no majority of the servers that keep the namespace answers this one, so what it has may not"
            + " be the newest: try again; tako group status and the servers' logs say who is missing");
  }

  private static boolean isGivenSoon(CompletableFuture<Boolean> proven) {
    try {
      return proven.get(PROOF_WAIT_MS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      proven.complete(false); // it is not looked at again
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** The reason why no call is answered, if there is one; waits for a bounded time. */
  Optional<String> sickness() {
    try {
      boundedLock.lock();
    } catch (TakoException e) {
      return Optional.of(e.getMessage());
    }
    try {
      if (closed) {
        return Optional.of("the server is stopping");
      }
      return core == null ? Optional.of(NO_STATE) : Optional.ofNullable(core.failure());
    } finally {
      lock.unlock();
    }
  }

  // ---- what the transports' threads call --------------------------------------------------------

  @Override
  public void onCalls(List<IncomingCall> calls) {
    List<IncomingCall> ready = new ArrayList<>(calls.size());
    for (IncomingCall call : calls) {
      String user = call.request().getOpenSession().getUser();
      if (!call.request().hasOpenSession() || lookups.isKnown(user)) {
        ready.add(call);
      } else {
        executeOnceResolved(user, call);
      }
    }
    execute(ready);
  }

  private void executeOnceResolved(String user, IncomingCall call) {
    try {
      lookups.start(user, () -> execute(List.of(call)));
    } catch (RuntimeException | Error e) {
      // Too many wait, or there is no memory for a thread: the calls beside this one go on.
      LOG.warn("no thread to look up the groups of {}: {}", user, e.toString());
      call.reply(
          Reply.newBuilder()
              .setStatus(Status.UNAVAILABLE)
              .setMessage("too many users are being looked up; try again")
              .build());
    }
  }

  /** Whether this server may soon lead, or know who does, which it does not now. */
  private boolean isLeaderAwaited() {
    ClusterTopology cluster = completion.cluster();
    return core != null
        && !core.isLeading()
        && cluster.serverId() != 0
        && cluster
            .leader(ClusterTopology.NAMESPACE_GROUP)
            .filter(server -> server.getId() != cluster.serverId())
            .isEmpty();
  }

  private void execute(List<IncomingCall> calls) {
    execute(calls, true);
  }

  /**
   * @param mayWait whether calls that open sessions wait while nobody leads
   */
  private void execute(List<IncomingCall> calls, boolean mayWait) {
    List<FencedReply> replies = new ArrayList<>(calls.size());
    List<FencedReply> unanswered = List.of();
    List<String> stale = List.of();
    boolean tick = false;
    boolean stateless;
    long arrivedNs = clock.nanoTime();
    lock.lock();
    try {
      if (closed) {
        return;
      }
      stateless = core == null;
      if (asksForTheCluster(calls)) {
        poll.refresh();
      }
      if (!stateless) {
        unanswered = endIfOver();
        List<IncomingCall> ready =
            mayWait && isLeaderAwaited() ? waiting.keep(calls, arrivedNs) : calls;
        core.onCalls(ready, arrivedNs, replies);
        core.poll(replies);
        stale = core.staleUsers();
        tick = core.wantsTick();
      }
    } finally {
      lock.unlock();
    }
    refuse(unanswered);
    if (stateless) {
      withoutState.onCalls(calls);
    }
    stale.forEach(lookups::refresh);
    send(replies);
    pollIfWanted();
    if (tick) {
      tickWanted.run();
    }
  }

  private static boolean asksForTheCluster(List<IncomingCall> calls) {
    for (IncomingCall call : calls) {
      if (call.request().hasGetClusterStatus()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    lock.lock();
    try {
      waiting.forget(connection);
      state.clients().unbind(connection);
    } finally {
      lock.unlock();
    }
  }
}
