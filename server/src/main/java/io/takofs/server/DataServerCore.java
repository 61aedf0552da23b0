package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.Arenas;
import io.takofs.proto.Caller;
import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.ReplaceMember;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.Operations;
import io.takofs.server.groups.GroupMapping;
import io.takofs.server.loggroup.Callers;
import io.takofs.server.loggroup.ClientState;
import io.takofs.server.loggroup.ClientTable;
import io.takofs.server.loggroup.Counters;
import io.takofs.server.loggroup.GrantPlacement;
import io.takofs.server.loggroup.Housekeeping;
import io.takofs.server.loggroup.Journal;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.loggroup.LeaseReport;
import io.takofs.server.loggroup.LogGroup;
import io.takofs.server.loggroup.SafeMode;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.loggroup.StatusReport;
import io.takofs.server.loggroup.Ticket;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.LocalExtents;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.zone.ArenaExport;
import io.takofs.server.zone.Commits;
import io.takofs.server.zone.DataPersistence;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data server without threads, transports and files: calls go in, replies come out, and {@link
 * #onTick} does what time demands. A simulation drives it like the real server does.
 *
 * <p>Thread rule: one thread at a time; {@link GroupServer} holds its lock.
 */
final class DataServerCore {
  private static final Logger LOG = LoggerFactory.getLogger(DataServerCore.class);

  /** Pause between two attempts to begin, while this server is not known to lead. */
  private static final long JOINING_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Pause after this server has begun to lead: the sessions that wait for that come first. */
  private static final long BEGUN_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Pause between two pieces of a checkpoint, while another server leads. */
  private static final long CHECKPOINTING_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final LogGroup group;
  private final Clock clock;
  private final ServerSettings settings;
  private final long epoch;
  private final StateMachine machine;
  private final Journal journal;
  private final ClientTable sessions;
  private final Callers callers;
  private final Counters counters;
  private final OperationTimes times;
  private final SafeMode safeMode;
  private final Housekeeping housekeeping;
  private final StatusReport statusReport;
  private final LeaseReport leaseReport;
  private final DataPersistence persistence;
  private final LocalExtents local;
  private final FencedReply.Rights rights;
  private final ServerDataZone zone;
  private final Cluster cluster;
  private final WriteWindows windows;
  private final HeldReplies replies;
  private final ProvenLooks looks;
  private final Leader leader;
  private final SteadyClock time;
  private final List<Long> ended = new ArrayList<>(); // sessions, while another server leads

  /** The term in which this server leads the group; 0 while it does not. */
  private long term;

  DataServerCore(
      LogGroup group,
      Leader leader,
      SteadyClock time,
      ServerDataZone zone,
      GroupMapping groups,
      Cluster cluster) {
    this.group = group;
    this.leader = leader;
    this.time = time;
    this.clock = group.clock();
    this.settings = group.settings();
    this.epoch = group.epoch();
    this.machine = group.machine();
    this.journal = group.journal();
    this.sessions = group.sessions();
    this.safeMode = group.safeMode();
    this.counters = group.counters();
    this.times = group.times();
    this.zone = zone;
    this.cluster = cluster;
    this.windows = zone.windows();
    this.replies = new HeldReplies(journal, leader);
    this.looks = new ProvenLooks(journal, leader);
    this.callers = new Callers(settings, groups);
    this.persistence = DataPersistence.of(zone.arenas(), machine::committedLength, journal::stop);
    this.local = new LocalExtents(cluster::serverId, machine);
    this.rights = new FencedReply.Rights(machine, local, windows);
    this.housekeeping = new Housekeeping(group);
    this.statusReport = new StatusReport(group);
    this.leaseReport = new LeaseReport(clock, machine, sessions);
  }

  /**
   * The log was replayed.
   *
   * @param count entries
   */
  void recovered(int count) {
    machine.takeEndedLeases(); // nobody writes through windows yet
    statusReport.recovered();
    if (count > 0 || epoch > 1) { // else the pool is new
      Facts.of("epoch", epoch)
          .and("entries", count)
          .and("files", machine.files())
          .info(LOG, "the log is replayed");
    }
  }

  /**
   * Lets clients in, and asks the data servers what they hold, as soon as this server leads.
   *
   * @return whether it leads
   * @throws TakoException when the log takes no entry
   */
  boolean beginOnceLeading() throws TakoException {
    if (term != 0) {
      return true;
    }
    long begun = leader.term();
    if (begun == 0) {
      return false;
    }
    journal.applyCommitted();
    if (journal.hasDiverged()) {
      return false;
    }
    machine.takeEndedLeases(); // as in follow()
    time.continueFrom(machine.latestTimeMs()); // before the first entry of this leader
    group.begin(begun);
    for (SessionInfo session : machine.sessions()) {
      sessions.recovered(
          session.clientId(), TimeUnit.MILLISECONDS.toNanos(session.connectTimeoutMs()));
    }
    ended.addAll(sessions.forgetEnded(id -> machine.session(id) != null));
    term = begun;
    Facts.of("term", term).and("epoch", epoch).info(LOG, "this server leads the namespace");
    return true;
  }

  /** Whether clients are let in, because this server leads. */
  boolean isLeading() {
    return term != 0;
  }

  /**
   * Whether this server leads no more, or in another term, or has a state that nobody committed:
   * then another core takes its place.
   */
  boolean isOver() {
    return journal.hasDiverged() || (term != 0 && leader.term() != term);
  }

  /** Whether the state has to be made again from its checkpoint. */
  boolean hasDiverged() {
    return journal.hasDiverged();
  }

  /** Ends what this server does as the leader; returns the calls that got no answer. */
  List<FencedReply> end() {
    group.end();
    if (term != 0) {
      Facts.of("term", term).info(LOG, "this server leads the namespace no more");
    }
    looks.end();
    return replies.takeAll();
  }

  /**
   * Executes {@code calls} in order; {@code out} gets the replies that may be sent now.
   *
   * @param arrivedNs when they came, by the server's clock
   */
  void onCalls(List<IncomingCall> calls, long arrivedNs, List<FencedReply> out) {
    List<HeldReplies.Answer> answers = new ArrayList<>(calls.size());
    for (IncomingCall call : calls) {
      counters.add("request.bytes", call.size());
      Ticket before = journal.ticket();
      Reply reply;
      try {
        reply = execute(call);
      } catch (TakoException e) {
        reply =
            e.status() == Status.NOT_LEADER
                ? ClusterCalls.notLeader(cluster) // which names the one that is
                : ClusterCalls.refused(e);
      } catch (RuntimeException e) {
        if (journal.failure() != null) {
          throw e; // the connection ends, so that the client asks the next incarnation
        }
        Facts.of("operation", call.request().getOperationCase())
            .and("session", Long.toHexString(call.clientId()))
            .and("remote", call.connection().remoteName())
            .error(LOG, "a call failed: " + call.request(), e);
        reply = ClusterCalls.refused(Status.INTERNAL, "the server failed: " + e);
      }
      closeWindows(call.clientId(), call.request(), reply);
      ClientState client = sessions.of(call.connection());
      boolean wantsProofs = client != null && client.wantsProofs;
      ProofDue due =
          journal.ticket().equals(before)
              ? ProofDue.of(call.request().getOperationCase())
              : ProofDue.NONE;
      answers.add(
          new HeldReplies.Answer(
              FencedReply.to(call, reply, journal.ticket(), rights, wantsProofs), due));
      times.record(
          call.request().getOperationCase(), reply.getStatus(), clock.nanoTime() - arrivedNs);
    }
    if (term == 0) {
      answers.forEach(answer -> out.add(answer.reply())); // they tell of no state
    } else {
      replies.add(answers, term, out);
    }
  }

  /**
   * Does what waited for entries that are committed by now; {@code out} gets the replies that did.
   */
  void poll(List<FencedReply> out) {
    journal.poll();
    replies.release(out);
    looks.release();
  }

  /**
   * Tells true when what a {@link #query} has just answered may be shown, as a reply may be sent;
   * false when this server leads no more before.
   */
  CompletableFuture<Boolean> whenProven() {
    return looks.add(term);
  }

  /** Takes away what nobody may write any more, before anybody else is told that he may. */
  private void closeWindows(long clientId, Request request, Reply reply) {
    if (request.hasCommitExtents() && reply.getStatus() == Status.OK && windows.concern(clientId)) {
      for (Extent extent : request.getCommitExtents().getExtentsList()) {
        if (extent.getLength() == extent.getCapacity()) {
          Extent here = local.of(extent);
          if (here != null) {
            windows.close(clientId, request.getCommitExtents().getFileId(), here);
          }
        }
      }
    }
    closeWindowsOfEndedLeases();
  }

  private void closeWindowsOfEndedLeases() {
    machine
        .takeEndedLeases()
        .forEach(
            lease -> {
              leaseReport.ended(lease);
              windows.close(lease.clientId(), lease.fileId());
            });
  }

  /**
   * Does what is due.
   *
   * @return nanoseconds until the next call is wanted
   */
  long onTick() {
    try {
      boolean led = isLeading();
      if (!beginOnceLeading()) {
        follow();
        return housekeeping.isCheckpointing() ? CHECKPOINTING_NS : JOINING_NS;
      }
      if (!led) {
        return BEGUN_NS;
      }
    } catch (TakoException e) {
      LOG.warn("the group cannot begin yet: {}", e.getMessage());
      return JOINING_NS;
    }
    long next = housekeeping.tick();
    closeWindowsOfEndedLeases();
    return next;
  }

  /** Applies what the leader, another server, has committed. */
  private void follow() {
    if (journal.applyCommitted() && !cluster.leads(ClusterTopology.NAMESPACE_GROUP)) {
      group.watch().followed();
    }
    housekeeping.advanceCheckpoint();
    machine.takeEndedLeases(); // the leader fences; a later lease may have windows here by now
    ended.addAll(sessions.forgetEnded(id -> machine.session(id) != null));
  }

  /** Clients whose connections to the data zone are to be fenced; asked once each time. */
  List<Long> clientsToFence() {
    List<Long> clients = new ArrayList<>(ended);
    ended.clear();
    clients.addAll(housekeeping.clientsToFence());
    return clients;
  }

  /** Users whose groups must be looked up again; asked once each time. */
  List<String> staleUsers() {
    return callers.takeStale();
  }

  /** Whether {@link #onTick} should be called soon, whatever it said last. */
  boolean wantsTick() {
    return housekeeping.isBusy();
  }

  /** Makes the present state a checkpoint, so that the next start has nothing to replay. */
  void checkpoint() {
    journal.checkpoint();
  }

  // ---- calls ------------------------------------------------------------------------------------

  private Reply execute(IncomingCall call) throws TakoException {
    journal.checkUsable();
    Request request = call.request();
    if (request.hasGetClusterMap()) {
      return ClusterCalls.map(cluster);
    }
    if (term == 0) {
      return request.hasGetClusterStatus() ? status() : ClusterCalls.notExecuted(cluster);
    }
    if (request.hasOpenSession()) {
      return openSession(call, request.getOpenSession());
    }
    ClientState client = sessions.of(call.connection());
    if (client == null || client.clientId != call.clientId()) {
      throw ClusterCalls.unknownSession(call.clientId());
    }
    client.lastHeardNs = clock.nanoTime();
    if (request.hasGetServerStatus() || request.hasGetClusterStatus()) {
      return statusReport.build();
    }
    if (request.hasRenewLeases()) {
      client.wantsProofs |= request.getRenewLeases().getWantsProofs();
      return renewed(call.clientId(), request.getRenewLeases());
    }
    if (request.hasReportReplicas()) {
      group.leases().report(call.clientId(), request.getReportReplicas());
      group.repair().report(request.getReportReplicas());
      return Reply.newBuilder().setDone(true).build();
    }
    if (request.hasGetArenas()) {
      return arenas(call.clientId(), request.getGetArenas().getFirst());
    }
    if (request.hasCloseSession()) {
      return close(call, client);
    }
    boolean changes = Operations.isMutation(request.getOperationCase());
    Reply known = changes ? recorded(call) : null;
    if (known != null && !StateMachine.isPartial(known)) {
      return known;
    }
    Caller caller = callers.of(client, client.lastHeardNs);
    if (request.hasGetUsage()) {
      return Reply.newBuilder().setUsage(group.supply().usage()).build();
    }
    if (request.hasListLeases()) {
      return leaseReport.list(caller, request.getListLeases());
    }
    if (request.hasForceRepair()) {
      return Reply.newBuilder().setRepair(group.repair().force(caller)).build();
    }
    if (request.hasSetSafeMode()) {
      return safeMode.set(caller, request.getSetSafeMode());
    }
    if (request.hasMoveLeader()) {
      checkMayChangeMembers(caller);
      leader.moveTo(request.getMoveLeader().getServer());
      return Reply.newBuilder().setDone(true).build();
    }
    if (request.hasReplaceMember()) {
      checkMayChangeMembers(caller);
      ReplaceMember replace = request.getReplaceMember();
      leader.replace(replace.getLeaves(), replace.getComes());
      return Reply.newBuilder().setDone(true).build();
    }
    return changes ? mutate(call, caller, known) : machine.query(caller, request);
  }

  private static void checkMayChangeMembers(Caller caller) throws TakoException {
    if (!caller.getSuperuser()) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "user "
              + caller.getUser()
              + " may not change the members of the group: that takes the server's user or its"
              + " supergroup");
    }
  }

  /**
   * The reply of a call that was executed before, or to a part of it; null for none. It comes
   * before everything that may refuse a call.
   */
  private Reply recorded(IncomingCall call) throws TakoException {
    return machine.recorded(call.clientId(), call.sequence(), call.request());
  }

  private Reply close(IncomingCall call, ClientState client) throws TakoException {
    Reply reply = mutate(call, client.caller, null);
    if (reply.getStatus() == Status.OK) {
      housekeeping.endSession(call.clientId());
    }
    return reply;
  }

  private Reply renewed(long clientId, RenewLeases renewal) throws TakoException {
    if (renewal.getFileId() == 0) {
      return Reply.getDefaultInstance();
    }
    machine.checkLease(clientId, renewal.getFileId(), renewal.getLeaseEpoch());
    List<Extent> writable = machine.writable(renewal.getFileId());
    return Reply.newBuilder().setGrants(Grants.newBuilder().addAllExtents(writable)).build();
  }

  private Reply arenas(long clientId, int first) throws TakoException {
    Arenas arenas = zone.describe(clientId, first, ArenaExport.DESCRIBED_MAX);
    return Reply.newBuilder().setArenas(arenas).build();
  }

  /**
   * @param known the recorded reply to a part of the call; null for none
   */
  private Reply mutate(IncomingCall call, Caller caller, Reply known) throws TakoException {
    long clientId = call.clientId();
    Request request = call.request();
    if (call.sequence() == 0) {
      throw new TakoException(
          Status.MALFORMED, "a call that changes something carries no number; numbers begin at 1");
    }
    safeMode.check(clientId, request);
    settings.check(request);
    GrantPlacement placement = housekeeping.makeRoomFor(caller, request, clientId);
    Reply refusal = machine.refusal(request);
    if (refusal != null) {
      return refusal;
    }
    LogEntry.Builder entry =
        LogEntry.newBuilder()
            .setClientId(clientId)
            .setSequence(call.sequence())
            .setTimeMs(clock.currentTimeMillis())
            .setCaller(caller)
            .setNearServer(placement.near());
    placement.avoided().forEach(entry::addAvoidedServers);
    housekeeping.lapsedClients(request, caller).forEach(entry::addLapsedClients);
    if (persistence.isDurable()) {
      persistence.persist(local.of(Commits.of(request)));
    }
    Reply reply = known;
    do {
      Request next = StateMachine.next(request, reply);
      reply = journal.execute(entry.setRequest(next).build());
    } while (StateMachine.isPartial(reply));
    leaseReport.executed(request, reply);
    return reply;
  }

  // ---- what the server's pages ask --------------------------------------------------------------

  /** The status of the server without its transports. */
  Reply status() {
    Reply status = statusReport.build();
    if (term != 0) {
      return status;
    }
    // The space of the group is its leader's to know; this server's own is to be shown.
    return Reply.newBuilder()
        .setServerStatus(status.getServerStatus().toBuilder().setUsage(zone.usage()))
        .build();
  }

  /** Why calls are refused, or null. */
  String failure() {
    return journal.failure();
  }

  /**
   * Answers a request that changes nothing.
   *
   * @throws TakoException when the groups of {@code user} are not known; NOT_LEADER
   */
  Reply query(String user, Request request) throws TakoException {
    journal.checkUsable();
    if (term == 0) {
      Reply elsewhere = ClusterCalls.notLeader(cluster);
      throw new TakoException(elsewhere.getStatus(), elsewhere.getMessage());
    }
    Caller caller = callers.of(user);
    return request.hasListLeases()
        ? leaseReport.list(caller, request.getListLeases())
        : machine.query(caller, request);
  }

  // ---- sessions ---------------------------------------------------------------------------------

  private Reply openSession(IncomingCall call, OpenSessionRequest open) throws TakoException {
    ClusterCalls.checkVersion("client", open.getProtocolVersion(), open.getLayoutHash());
    if (open.getUser().isBlank()) {
      throw new TakoException(Status.INVALID_ARGUMENT, "a session needs a user; none was named");
    }
    StateMachine.check(open);
    if (call.connection().hasEnded()) {
      throw new TakoException( // whom nobody would ever take out of the session again
          Status.DISCONNECTED, "the connection has ended while the call waited");
    }
    Caller caller = callers.of(open.getUser());
    Reply reply;
    if (call.clientId() == 0) {
      reply = mutate(call, caller, null);
    } else {
      checkResumable(call.clientId(), open.getUser());
      reply = resumed(call.clientId());
    }
    if (reply.getStatus() != Status.OK) {
      return reply;
    }
    long clientId = reply.getSession().getClientId();
    ClientState client = sessions.client(clientId);
    client.caller = caller;
    client.groupsKnownNs = clock.nanoTime();
    client.clientName = open.getClientName();
    client.nearServer = NearServer.of(cluster, call.connection());
    sessions.bind(call.connection(), client);
    SessionTerms session =
        reply.getSession().toBuilder()
            .setLeaseSoftLimitMs(settings.leaseSoftLimit().toMillis())
            .setLeaseHardLimitMs(settings.leaseHardLimit().toMillis())
            .setEpoch(epoch)
            .setSessionTtlMs(settings.sessionTtl().toMillis())
            .setSuperuser(caller.getSuperuser())
            .addAllGroups(caller.getGroupsList())
            .setTicket(cluster.ticket(clientId, ClusterTopology.NAMESPACE_GROUP))
            .setNearServer(client.nearServer)
            .setServer(cluster.serverId())
            .build();
    return reply.toBuilder().setSession(session).build();
  }

  private void checkResumable(long clientId, String user) throws TakoException {
    SessionInfo session = machine.session(clientId);
    if (session == null) {
      throw ClusterCalls.unknownSession(clientId);
    }
    if (!session.user().equals(user)) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "session " + Long.toHexString(clientId) + " is another user's, not " + user + "'s");
    }
  }

  /** A session that exists is not changed by a new connection, so nothing is logged. */
  private Reply resumed(long clientId) {
    SessionTerms session =
        SessionTerms.newBuilder()
            .setClientId(clientId)
            .setReplication(machine.limits().defaultReplication())
            .setInlineMax(machine.limits().inlineMax())
            .build();
    return Reply.newBuilder().setSession(session).build();
  }
}
