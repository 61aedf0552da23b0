package io.takofs.bench.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.log.Log;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogPeers;
import io.takofs.server.log.LogTransport;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One of two servers. Each leads the group of its own number, of which the other one is the
 * follower.
 *
 * <p>Thread rule: one thread, but for the transport's own.
 */
final class LogNode implements AutoCloseable, LogPeers {
  private static final long TICK_NS = TimeUnit.MICROSECONDS.toNanos(500);
  private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int SENDS_MAX = 16;
  private static final int COMPLETIONS_MAX = 4096;

  private final int number;
  private final FrameWay way;
  private final Transport transport;
  private final Transport.Listener listener;
  private final ProtectionDomain domain;
  private final CompletionQueue passive; // of pairs over which only the other one writes
  private final CallSender calls;
  private final CallCompletions answered;
  private final CallReceiver receiver;
  private final BenchMember leader;
  private final BenchMember follower;
  private final FollowerCosts costs = new FollowerCosts();
  private final ArrayDeque<Runnable> answers = new ArrayDeque<>();
  private String peerEndpoint = "";
  private long tickDueNs = Long.MIN_VALUE;
  private boolean keepsAll;
  private Log.CommitHandler applied;
  private Log.CommitHandler committed = (index, term, payload) -> {};
  private long committedIndex;
  private long appliedIndex;
  private final Log.CommitHandler noted = this::note;
  private final Log.CommitHandler notedApplied = this::noteApplied; // null: followers do not apply

  /**
   * @param number 1 or 2
   * @param directory where the files of its logs are made
   * @param led segments of the log of the group that it leads
   * @param followed segments of its copy of the other one's
   */
  LogNode(int number, FrameWay way, Transport transport, Path directory, int led, int followed)
      throws IOException {
    this.number = number;
    this.way = way;
    this.transport = transport;
    try (Undo undo = new Undo()) {
      this.domain = undo.add(transport.allocateProtectionDomain());
      this.passive = transport.createCompletionQueue(COMPLETIONS_MAX);
      this.calls = new CallSender(domain, transport.createCompletionQueue(COMPLETIONS_MAX));
      this.answered = new CallCompletions(calls);
      CompletionQueue written =
          way == FrameWay.CALLS ? answered : transport.createCompletionQueue(COMPLETIONS_MAX);
      this.leader = member(number, directory, led, written);
      this.follower = member(3 - number, directory, followed, passive);
      this.receiver =
          new CallReceiver(
              domain,
              transport.createCompletionQueue(COMPLETIONS_MAX),
              follower.memory(),
              follower.replica(),
              this::handle);
      String endpoint = transport.name().equals("tcp") ? "127.0.0.1:0" : "";
      this.listener = transport.listen(endpoint, new Acceptor());
      undo.keep();
    }
  }

  private BenchMember member(int group, Path directory, int slots, CompletionQueue queue)
      throws IOException {
    Path file = directory.resolve("log-" + group + "-of-" + number);
    return BenchMember.create(number, group, file, slots, transport.name(), domain, queue, this);
  }

  /** The endpoint to which the other one connects. */
  String endpoint() {
    return listener.endpoint();
  }

  /** The group that this server leads. */
  BenchMember leader() {
    return leader;
  }

  /** The group that this server follows in. */
  BenchMember follower() {
    return follower;
  }

  /** The cost of the other server's frames to this one so far. */
  FollowerCosts costs() {
    return costs;
  }

  /** Gives up nothing that it follows from now on. */
  void keepAll() {
    keepsAll = true;
  }

  /** Applies what it follows from now on; null: it keeps the log alone, as a backup does. */
  void setApplied(Log.CommitHandler handler) {
    applied = handler;
  }

  /** Gets what is committed in the group that this server leads. */
  void setCommitted(Log.CommitHandler handler) {
    committed = handler;
  }

  /** Sends what was proposed, and delivers what is committed. */
  void poll() {
    leader.log().poll(noted);
  }

  private void note(long index, long term, ByteBuffer payload) {
    committedIndex = index;
    committed.onCommit(index, term, payload);
  }

  private void noteApplied(long index, long term, ByteBuffer payload) {
    appliedIndex = index;
    applied.onCommit(index, term, payload);
  }

  /** Connects to the other server, and stands for election. */
  void connect(String endpoint) throws IOException {
    peerEndpoint = endpoint;
    MemoryRegion replies = calls.replies();
    QueuePair pair =
        transport.connect(
            endpoint,
            calls.config(),
            ConnectionInfo.ours(Layout.CONNECTION_SERVER, 0, 0, replies.address(), replies.rkey())
                .pack(),
            CONNECT_NS);
    ConnectionInfo peer = ConnectionInfo.unpack(pair.remotePrivateData(), endpoint);
    calls.connected(pair, peer.address(), peer.rkey());
    leader.member().stand();
  }

  /** Both members, for messages. */
  String describe() {
    return leader.member() + " " + leader.replica() + "; follows: " + follower.replica();
  }

  /** Whether this server leads its group, and may propose. */
  boolean leads() throws TakoException {
    LogMember member = leader.member();
    if (member.role() != LogMember.Role.LEADING) {
      return false;
    }
    if (leader.log().term() != member.term()) {
      leader.log().lead(member.term());
    }
    return true;
  }

  /** Does what the other server needs of this one, and what is due; returns the calls handled. */
  int serve(long now) throws TakoException {
    int count = 0;
    if (way == FrameWay.CALLS) {
      count = receiver.poll();
      if (count > 0) {
        costs.addCalls(count, now);
      }
    }
    if (now - tickDueNs >= 0 || tickDueNs == Long.MIN_VALUE) {
      tick();
      tickDueNs = now + TICK_NS;
    }
    return count;
  }

  private void tick() throws TakoException {
    if (way == FrameWay.ONE_SIDED) {
      receiver.poll();
    }
    if (calls.pair() == null) {
      return;
    }
    calls.poll();
    for (Runnable each = answers.poll(); each != null; each = answers.poll()) {
      each.run();
    }
    leader.member().tick();
    if (!keepsAll && leader.log().wantsTrim()) {
      leader.log().trim(committedIndex);
    }
    if (applied != null) {
      long begin = costs.now();
      follower.replica().scan();
      costs.addScan(begin);
      long scanned = costs.now();
      costs.addApplied(follower.log().poll(notedApplied), scanned);
    }
    makeRoom();
  }

  /** Gives up segments that are committed: a checkpoint is taken for granted. */
  private void makeRoom() {
    if (keepsAll || 2 * follower.log().freeSegmentCount() > follower.memory().slots().size()) {
      return;
    }
    long begin = costs.now();
    if (applied == null) {
      follower.log().skipTo(follower.replica().commitIndex());
    } else if (follower.log().wantsTrim()) {
      follower.log().trim(appliedIndex);
    }
    costs.addZeroing(begin);
  }

  private Reply handle(Request request) {
    if (request.hasExtendLog()) {
      long begin = costs.now();
      long before = follower.replica().lastIndex();
      follower.replica().scan();
      costs.addSegmentScan(follower.replica().lastIndex() - before, begin);
      makeRoom();
    }
    long begin = costs.now();
    Reply reply = follower.member().handle(request);
    costs.addRequest(costs.now() - begin);
    return reply;
  }

  // ---- the way to the other one ---------------------------------------------------------------

  @Override
  public void call(int server, Request request, Consumer<Reply> answer) {
    calls.ask(request, reply -> answers.add(() -> answer.accept(reply)));
  }

  @Override
  public LogTransport transportTo(int server) {
    return leader.via();
  }

  @Override
  public void connect(
      int server, LogTransport via, long term, long grant, Consumer<QueuePair> answer) {
    QueuePair pair =
        way == FrameWay.CALLS ? new CallWriter(calls, term, grant) : write(term, grant);
    if (pair instanceof CallWriter writer) {
      answered.serve(writer);
    }
    answers.add(() -> answer.accept(pair));
  }

  private QueuePair write(long term, long grant) {
    CompletionQueue queue = leader.via().queue();
    try {
      return transport.connect(
          peerEndpoint,
          new QueuePairConfig(domain, queue, queue, SENDS_MAX, 1),
          ConnectionInfo.ours(Layout.CONNECTION_LOG, term, grant, 0, number).pack(),
          CONNECT_NS);
    } catch (IOException e) {
      throw new UncheckedIOException("no connection to the log of the other server", e);
    }
  }

  /** Lets the other server in. */
  private final class Acceptor implements ConnectionAcceptor {
    private final Map<Accept, ConnectionInfo> accepted = new ConcurrentHashMap<>();

    @Override
    public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
      ConnectionInfo peer = ConnectionInfo.unpack(privateData, remoteName);
      Accept accept;
      if (peer.kind() == Layout.CONNECTION_SERVER) {
        MemoryRegion requests = receiver.requests();
        ConnectionInfo ours =
            ConnectionInfo.ours(
                Layout.CONNECTION_SERVER, 0, 0, requests.address(), requests.rkey());
        accept = new Accept(receiver.config(), ours.pack());
      } else {
        ConnectionInfo ours = ConnectionInfo.ours(Layout.CONNECTION_LOG, 0, 0, 0, 0);
        accept = new Accept(new QueuePairConfig(domain, passive, passive, 1, 1), ours.pack());
      }
      accepted.put(accept, peer);
      return accept;
    }

    @Override
    public void onConnected(QueuePair pair, Accept accept) {
      ConnectionInfo peer = accepted.remove(accept);
      Invariant.check(peer != null, "who connects was accepted");
      if (peer.kind() == Layout.CONNECTION_SERVER) {
        receiver.connected(pair, peer.address(), peer.rkey());
      } else {
        follower.replica().connected(peer.clientId(), peer.epoch(), pair);
      }
    }
  }

  @Override
  public void close() {
    listener.close();
    transport.close();
    leader.zone().close();
    follower.zone().close();
  }
}
