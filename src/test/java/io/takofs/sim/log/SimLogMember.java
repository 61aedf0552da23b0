package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.LogIdentity;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogMemory;
import io.takofs.server.log.LogPeers;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTimes;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.LogZone;
import io.takofs.server.log.ReplicatedLog;
import io.takofs.server.log.WeakReplicas;
import io.takofs.sim.SimFlips;
import io.takofs.sim.SimMachine;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.SimTransport;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A member of a group whose log is real, in a process that anything may befall. */
final class SimLogMember extends SimMachine {
  static final int GROUP = 1;
  private static final int[] SLOTS = {12, 16, 24};
  private static final int VALUE_BYTES_MAX = 1200;
  private static final int SEGMENT_BYTES = 8192;

  /** One of so many ticks makes a checkpoint. */
  private static final int CHECKPOINT_IN = 50;

  private static final long TICK_MAX_NS = 2_000_000;
  private static final long LATE_REVOKE_NS = 20_000_000;
  private static final long CALL_TIMEOUT_NS = 20_000_000;
  private static final long CONNECT_TIMEOUT_NS = 20_000_000;
  private static final LogTimes TIMES = new LogTimes(5_000_000, 40_000_000, 120_000_000, 5_000_000);

  private final SimNetwork network;
  private final int id;
  private final List<SimLogMember> group;
  private final SimCatalog catalog;
  private final LogHistory history;
  private final Set<BrokenRule> broken;
  private double restlessness;
  private final int slotCount;
  private final MappedMemory memory;
  private LogReplica replica;
  private ReplicatedLog log;
  private LogMember member;
  private final Set<Long> waiting = new HashSet<>();
  private final Map<LogMember.ReadTicket, Long> reads = new LinkedHashMap<>();
  private final Map<Long, Long> delivered = new TreeMap<>();
  private final Map<Long, Long> checkpoint = new TreeMap<>(); // outlives the process
  private long deliveredIndex;
  private long checkpointIndex;

  SimLogMember(
      SimNetwork network,
      int id,
      List<SimLogMember> group,
      SimCatalog catalog,
      LogHistory history,
      double restlessness,
      Set<BrokenRule> broken)
      throws TakoException {
    super(network.scheduler(), "member" + id, false);
    this.network = network;
    this.id = id;
    this.group = group;
    this.catalog = catalog;
    this.history = history;
    this.restlessness = restlessness;
    this.broken = broken;
    this.slotCount = SLOTS[network.scheduler().random().nextInt(SLOTS.length)];
    this.memory = MappedMemory.anonymous((long) slotCount * SEGMENT_BYTES, true);
  }

  @Override
  public int id() {
    return id;
  }

  /** It stands for election only when it misses its leader. */
  void calmDown() {
    restlessness = 0;
  }

  LogMember member() {
    return member;
  }

  ReplicatedLog log() {
    return log;
  }

  LogReplica replica() {
    return replica;
  }

  /** What was delivered here, by index. */
  Map<Long, Long> delivered() {
    return delivered;
  }

  @Override
  protected void serve(SimProcess born) throws IOException {
    SimTransport transport = network.attach(born);
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue queue = transport.createCompletionQueue(4096);
    ByteBuffer[] slots = new ByteBuffer[slotCount];
    List<MemoryRegion> regions = new ArrayList<>();
    for (int i = 0; i < slotCount; i++) {
      int at = i * SEGMENT_BYTES;
      slots[i] = memory.slice(at, SEGMENT_BYTES);
      regions.add(
          domain.register(
              memory,
              at + Layout.SEGMENT_DATA_OFFSET,
              SEGMENT_BYTES - Layout.SEGMENT_DATA_OFFSET,
              Access.REMOTE_READ_WRITE));
    }
    CompletionQueue counted =
        broken.contains(BrokenRule.FAILED_COUNTS) ? new BlindQueue(queue) : queue;
    LogTransport via =
        new LogTransport(
            transport.name(),
            domain,
            new LogMemory(
                regions, domain.allocate(Layout.HEARTBEAT_SIZE, Access.REMOTE_READ_WRITE)),
            counted);
    LogTransports reachable = new LogTransports();
    reachable.add(via);
    if (broken.contains(BrokenRule.AMNESIA) && epoch() > 1) {
      forget();
    }
    LogZone zone = new LogZone(slots, (slot, offset, length) -> persist(born));
    LogIdentity identity = new LogIdentity(GROUP, (int) epoch());
    if (broken.contains(BrokenRule.HEADER_CHECKSUM)) {
      replica =
          WeakReplicas.withoutPayloadChecksums(id, zone, reachable, identity, checkpointIndex);
    } else if (broken.contains(BrokenRule.SELF_UNFENCED)) {
      replica =
          WeakReplicas.withoutFenceAgainstItself(id, zone, reachable, identity, checkpointIndex);
    } else {
      replica = LogReplica.open(id, zone, reachable, identity, checkpointIndex, () -> true);
    }
    waiting.clear();
    reads.clear();
    delivered.clear();
    delivered.putAll(checkpoint);
    deliveredIndex = checkpointIndex;
    log = new ReplicatedLog(replica, checkpointIndex);
    QueuePairConfig pairs = new QueuePairConfig(domain, queue, queue, 16, 0);
    member =
        new LogMember(
            GROUP,
            replica,
            log,
            new Peers(born, transport, via, pairs),
            catalog.view(),
            TIMES,
            clock(),
            new Random(network.scheduler().random().nextLong()));
    transport.listen(
        endpoint(), new Door(pairs, replica, scheduler(), born, broken, new HashMap<>()));
    tick(born);
  }

  /** A step of making something persistent, which may be the last one of the process. */
  private void persist(SimProcess born) {
    if (diesPersisting()) {
      born.kill();
    }
    born.checkAlive();
  }

  private void forget() {
    for (int at = 0; at < slotCount * SEGMENT_BYTES; at += Long.BYTES) {
      memory.slice(at, Long.BYTES).putLong(0, 0);
    }
    checkpoint.clear();
    checkpointIndex = 0;
  }

  private void tick(SimProcess born) {
    scheduler()
        .schedule(
            born,
            scheduler().delayNs(100_000, TICK_MAX_NS),
            () -> {
              if (scheduler().random().nextDouble() < restlessness) {
                member.stand();
              }
              member.tick();
              if (broken.contains(BrokenRule.EARLY_ACTIVE)
                  && member.role() == LogMember.Role.OPENING) {
                catalog.activate(member.config().epoch());
              }
              log.poll(this::deliver);
              answerReads();
              if (replica.missingIndex() != 0) {
                takeCheckpoint();
              } else if (scheduler().random().nextInt(CHECKPOINT_IN) == 0) {
                checkpoint();
              }
              tick(born);
            });
  }

  /** Keeps what was delivered, and gives up what all members have kept. */
  private void checkpoint() {
    checkpoint.putAll(delivered);
    checkpointIndex = deliveredIndex;
    log.trim(checkpointIndex);
  }

  /** Takes over the checkpoint of another member, when its own log cannot be continued. */
  private void takeCheckpoint() {
    SimLogMember other = group.get(scheduler().random().nextInt(group.size()));
    if (other == this
        || !other.isAlive()
        || other.checkpointIndex < replica.missingIndex()
        || network.links().isCut(process(), other.process())
        || network.links().isCut(other.process(), process())) {
      return;
    }
    checkpoint.putAll(other.checkpoint);
    checkpointIndex = other.checkpointIndex;
    delivered.putAll(checkpoint);
    deliveredIndex = Math.max(deliveredIndex, checkpointIndex);
    log.skipTo(checkpointIndex);
  }

  private void deliver(long index, long term, ByteBuffer payload) {
    long value = payload.hasRemaining() ? payload.getLong(payload.position()) : -term;
    for (int at = payload.position(); at < payload.limit(); at += Long.BYTES) {
      if (payload.getLong(at) != value) {
        throw new AssertionError("member " + id + " delivers garbage at index " + index);
      }
    }
    history.deliver(id, index, value);
    delivered.put(index, value);
    deliveredIndex = index;
    if (waiting.remove(value)) {
      history.acknowledge(index, value);
    }
  }

  /** Proposes a value, if this member leads; whether it took it. */
  boolean propose(long value) {
    if (!isAlive() || member.role() != LogMember.Role.LEADING) {
      return false;
    }
    int longs = 1 + scheduler().random().nextInt(VALUE_BYTES_MAX / Long.BYTES);
    ByteBuffer payload = ByteBuffer.allocate(longs * Long.BYTES);
    while (payload.hasRemaining()) {
      payload.putLong(value);
    }
    payload.flip();
    try {
      log.lead(member.term());
      log.propose(payload);
      waiting.add(value);
      log.poll(this::deliver);
      return true;
    } catch (TakoException e) {
      return false;
    }
  }

  private Reply answer(Request request) {
    Reply reply = member.handle(request);
    if (broken.contains(BrokenRule.ADOPT_UNHEARD)
        && request.hasAdoptLog()
        && reply.getStatus() == Status.BUSY) {
      return Reply.getDefaultInstance();
    }
    return reply;
  }

  /** Begins a read, which must see all that anybody was told of before; whether it did. */
  boolean read() {
    LogMember.ReadTicket ticket = isAlive() ? member.beginRead() : null;
    if (ticket != null) {
      reads.put(ticket, Math.max(reads.getOrDefault(ticket, 0L), history.acknowledgedIndex()));
    }
    return ticket != null;
  }

  private void answerReads() {
    for (LogMember.ReadTicket ticket : List.copyOf(reads.keySet())) {
      boolean leads = member.role() == LogMember.Role.LEADING && member.term() == ticket.term();
      if (!leads) {
        reads.remove(ticket); // its caller asks another member
      } else if (broken.contains(BrokenRule.READ_UNPROVED) || member.isProven(ticket)) {
        long index = reads.remove(ticket);
        if (log.commitIndex() < index) {
          throw new AssertionError(
              "member %d answers a read as of index %d, and %d was acknowledged before"
                  .formatted(id, log.commitIndex(), index));
        }
        history.countRead();
      }
    }
  }

  /** Lets leaders in that the replica admits. */
  private record Door(
      QueuePairConfig pairs,
      LogReplica replica,
      SimScheduler scheduler,
      SimProcess own,
      Set<BrokenRule> broken,
      Map<QueuePair, QueuePair> known)
      implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
      ByteBuffer asked = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
      if (!replica.admits(asked.getLong(0), asked.getLong(8))) {
        throw new TakoException(Status.STALE_TERM, "the grant has ended");
      }
      return new Accept(pairs, privateData);
    }

    @Override
    public void onConnected(QueuePair pair, Accept accept) {
      ByteBuffer asked = ByteBuffer.wrap(accept.privateData()).order(ByteOrder.LITTLE_ENDIAN);
      QueuePair weak = pair;
      if (broken.contains(BrokenRule.SCAN_BEFORE_REVOKE)) {
        weak = new LatePair(pair, () -> scheduler.schedule(own, LATE_REVOKE_NS, pair::revoke));
      } else if (broken.contains(BrokenRule.REUSE_MEMORY)) {
        weak = new LatePair(pair, pair::revoke);
      }
      known.put(pair, weak);
      replica.connected(asked.getLong(0), asked.getLong(8), weak);
    }

    @Override
    public void onDisconnected(QueuePair pair) {
      replica.disconnected(known.getOrDefault(pair, pair));
    }
  }

  /** The way to the others: each call may be lost, be done without an answer, or late. */
  private final class Peers implements LogPeers {
    private final SimProcess own;
    private final SimTransport transport;
    private final LogTransport via;
    private final QueuePairConfig pairs;

    Peers(SimProcess own, SimTransport transport, LogTransport via, QueuePairConfig pairs) {
      this.own = own;
      this.transport = transport;
      this.via = via;
      this.pairs = pairs;
    }

    @Override
    public void call(int server, Request request, Consumer<Reply> answer) {
      boolean[] answered = new boolean[1];
      SimLogMember called = group.get(server - 1);
      SimProcess process = called.process();
      if (called.isAlive()) {
        network.schedule(
            network.latencyNs(own, process),
            () -> {
              if (!network.links().isCut(own, process)) {
                scheduler()
                    .schedule(
                        process, 0, () -> reply(process, called.answer(request), answered, answer));
              }
            });
      }
      scheduler()
          .schedule(
              own,
              CALL_TIMEOUT_NS,
              () -> {
                if (!answered[0]) {
                  answered[0] = true;
                  answer.accept(Reply.newBuilder().setStatus(Status.UNAVAILABLE).build());
                }
              });
    }

    private void reply(SimProcess from, Reply reply, boolean[] answered, Consumer<Reply> answer) {
      network.schedule(
          network.latencyNs(from, own),
          () -> {
            if (!network.links().isCut(from, own)) {
              scheduler()
                  .schedule(
                      own,
                      0,
                      () -> {
                        if (!answered[0]) {
                          answered[0] = true;
                          answer.accept(reply);
                        }
                      });
            }
          });
    }

    @Override
    public LogTransport transportTo(int server) {
      return via;
    }

    @Override
    public void connect(
        int server, LogTransport over, long term, long grant, Consumer<QueuePair> answer) {
      byte[] asked =
          ByteBuffer.allocate(16)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(term)
              .putLong(grant)
              .array();
      scheduler()
          .schedule(
              own,
              0,
              () -> {
                QueuePair pair = null;
                try {
                  pair =
                      transport.connect(
                          group.get(server - 1).endpoint(), pairs, asked, CONNECT_TIMEOUT_NS);
                } catch (IOException e) {
                  // It is not there, or lets this member in no more.
                }
                answer.accept(pair);
              });
    }
  }

  // ---- what only data servers have --------------------------------------------------------------

  @Override
  public ByteBuffer arena(int index) {
    throw new UnsupportedOperationException("a member has no file data");
  }

  @Override
  public List<MappedMemory> arenas() {
    return List.of();
  }

  @Override
  public int slabsHandedOut() {
    return 0;
  }

  @Override
  public SimFlips flips() {
    throw new UnsupportedOperationException("a member has no file data");
  }

  @Override
  public void flipBit() {
    // Bits of file data alone change by themselves.
  }

  @Override
  public void losePool() {
    // A member that lost its memory is another member: the configuration would have to change.
  }
}
