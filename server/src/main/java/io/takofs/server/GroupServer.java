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
import io.takofs.server.loggroup.Leader;
import io.takofs.server.loggroup.LogGroup;
import io.takofs.server.loggroup.SlabReport;
import io.takofs.server.peer.DataServers;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A group that this server leads: {@link DataServerCore} under one lock, for the clients that have
 * a session with it.
 *
 * <p>Thread rule: any thread.
 */
final class GroupServer implements RpcHandler {
  private static final Logger LOG = LoggerFactory.getLogger(GroupServer.class);

  /** Time for which a page waits until what it shows is committed. */
  private static final long COMMIT_WAIT_MS = 2000;

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
  private volatile Runnable tickWanted = () -> {};
  private volatile Reply lastStatus;

  /** Somebody wanted a look at what is committed while another held the lock. */
  private volatile boolean pollWanted;

  private DataServerCore core;
  private SlabReport slabReport;
  private boolean closed;

  /**
   * @param servers that keep the slabs of the group
   * @param completion adds to each reply what is not the group's
   */
  GroupServer(
      GroupState state,
      Leader leader,
      ServerDataZone zone,
      GroupLookups lookups,
      SteadyClock clock,
      DataServers servers,
      ReplyCompletion completion) {
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
    makeCore();
  }

  private ClusterStatus groupReport() {
    ClusterStatus.Builder report = slabReport.build().toBuilder();
    leader.status().ifPresent(report::setGroup);
    return report.build();
  }

  private void makeCore() {
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
    core.recovered(state.journal().recover());
    core.beginOnceLeading();
    lastStatus = core.status(); // the first to ask may not wait either
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
    Tick tick;
    lock.lock();
    try {
      if (closed) {
        return new Tick(Long.MAX_VALUE, null, List.of());
      }
      poll.tick();
      unanswered = endIfOver();
      long pauseNs = core.onTick();
      core.poll(replies);
      tick = new Tick(pauseNs, core.failure(), core.clientsToFence());
    } finally {
      lock.unlock();
    }
    refuse(unanswered);
    send(replies);
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
      try {
        pollWanted = false;
        if (!closed) {
          unanswered = endIfOver();
          core.poll(replies);
        }
      } finally {
        lock.unlock();
      }
      refuse(unanswered);
      send(replies);
    }
  }

  /** Another core takes the place of one that is over; returns the calls without an answer. */
  private List<FencedReply> endIfOver() {
    if (!core.isOver()) {
      return List.of();
    }
    List<FencedReply> unanswered = core.end();
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
      return core.failure();
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@code clientId} has a session. */
  boolean hasSession(long clientId) {
    lock.lock();
    try {
      return core.hasSession(clientId);
    } finally {
      lock.unlock();
    }
  }

  /** Makes a last checkpoint; no call is answered afterwards. */
  void close() {
    lock.lock();
    try {
      closed = true;
      core.checkpoint();
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
      Reply status = core.status();
      lastStatus = status;
      return status;
    } finally {
      lock.unlock();
    }
  }

  /** As {@link io.takofs.server.http.ServerView#query}. */
  Reply query(String user, Request request) throws TakoException {
    lookups.await(user);
    CountDownLatch committed = new CountDownLatch(1);
    Reply reply;
    boundedLock.lock();
    try {
      reply = core.query(user, request);
      core.whenCommitted(committed::countDown);
    } finally {
      lock.unlock();
    }
    try {
      if (committed.await(COMMIT_WAIT_MS, TimeUnit.MILLISECONDS)) {
        return reply;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new TakoException(
        Status.UNAVAILABLE, "the log takes too long to commit what is in it; try again");
  }

  /** The reason why no call is answered, if there is one; waits for a bounded time. */
  Optional<String> sickness() {
    try {
      boundedLock.lock();
    } catch (TakoException e) {
      return Optional.of(e.getMessage());
    }
    try {
      return closed ? Optional.of("the server is stopping") : Optional.ofNullable(core.failure());
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

  private void execute(List<IncomingCall> calls) {
    List<FencedReply> replies = new ArrayList<>(calls.size());
    List<String> stale;
    boolean tick;
    long arrivedNs = clock.nanoTime();
    lock.lock();
    try {
      if (closed) {
        return;
      }
      if (asksForTheCluster(calls)) {
        poll.refresh();
      }
      core.onCalls(calls, arrivedNs, replies);
      core.poll(replies);
      stale = core.staleUsers();
      tick = core.wantsTick();
    } finally {
      lock.unlock();
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
      core.onDisconnected(connection);
    } finally {
      lock.unlock();
    }
  }
}
