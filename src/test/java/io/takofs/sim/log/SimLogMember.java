package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogEntries;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogMemory;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTimes;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.ReplicatedLog;
import io.takofs.server.member.CheckpointTakeover;
import io.takofs.server.member.MemberChange;
import io.takofs.server.member.MemberRenewal;
import io.takofs.server.member.MemberSettings;
import io.takofs.server.member.MemberState;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.sim.SimFlips;
import io.takofs.sim.SimMachine;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimTransport;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** A member of a group whose log is real, in a process that anything may befall. */
final class SimLogMember extends SimMachine implements CheckedMember {
  static final int GROUP = 1;
  private static final int[] SLOTS = {8, 12, 16, 24};
  private static final int VALUE_BYTES_MAX = 1200;
  private static final int SEGMENT_BYTES = 8192;

  /** One of so many ticks makes a checkpoint. */
  private static final int CHECKPOINT_IN = 50;

  private static final long TICK_MAX_NS = 2_000_000;
  static final long MISSED_NS = 40_000_000;

  /** Of silence, after which another server takes a member's place. */
  private static final long REPLACE_AFTER_NS = 400_000_000;

  /** One of so many changes of bits is one of the checkpoint. */
  private static final int CHECKPOINT_FLIPS_IN = 4;

  /** From one look at who should be members to the next. */
  private static final long CHANGE_LOOK_NS = 20_000_000;

  /** In one of so many of these looks the session with the catalog has ended. */
  private static final int SESSION_ENDS_IN = 30;

  private static final long TAKEOVER_PAUSE_NS = 50_000_000;

  private static final long LEASE_NS = 36_000_000;

  /** So many times as long do members say that they hold out, where they do not. */
  private static final int LONG = 10;

  private final SimNetwork network;
  private final int id;
  private final List<SimLogMember> group;
  private final SimCatalog catalog;
  private final LogHistory history;
  private final Set<BrokenRule> broken;
  private final Spite spite;
  private final Set<Integer> damaged; // of all members
  private final int damagedMax;
  private final LogTimes times;
  private double restlessness;
  private final int slotCount;
  private final MappedMemory memory;
  private LogReplica replica;
  private ReplicatedLog log;
  private LogMember member;
  private int wantedMembers; // which leaders see to; 0 when they do not
  private MemberChange change; // null then
  private MemberRenewal renewal; // null then
  private long changeLookNs;
  private final Set<Long> waiting = new HashSet<>();
  private final Map<LogMember.ReadTicket, Long> reads = new LinkedHashMap<>();
  private final NavigableMap<Long, Long> delivered = new TreeMap<>();
  private final SimCheckpoint checkpoint = new SimCheckpoint();
  private long deliveredIndex;
  private long executedIndex; // when it led; 0 when it made its state again since
  private long executedTerm;
  private long frozenIndex; // of the checkpoint that it makes; 0 for none
  private SimCatalogView view;
  private MemberState state;
  private CheckpointTakeover takeover;
  private Runnable copies = () -> {}; // looks at them
  private boolean checkpointsAtRandom = true;
  private int takeovers;
  private int renewals;
  private String damageAtStart = "";
  private boolean renewed; // since it was damaged
  private boolean lostState; // because bits of it had changed
  private final LogBits bits;
  private ByteBuffer heartbeat; // where leaders write it
  private boolean looks; // and does not die while it does
  private long straysEndNs;
  private LogMember.ReadTicket round; // of heartbeats, for a lease
  private long roundNs; // before it began
  private long leaseNs; // when the last one that was taken began, in a term
  private long leaseTerm;
  private long releasedTerm;

  SimLogMember(
      SimNetwork network,
      int id,
      List<SimLogMember> group,
      SimCatalog catalog,
      LogHistory history,
      double restlessness,
      double spite,
      Set<Integer> damaged,
      int damagedMax,
      boolean leases,
      Set<BrokenRule> broken)
      throws TakoException {
    super(network.scheduler(), "member" + id, false);
    this.network = network;
    this.id = id;
    this.group = group;
    this.catalog = catalog;
    this.history = history;
    this.restlessness = restlessness;
    this.damaged = damaged;
    this.damagedMax = damagedMax;
    long longNs = broken.contains(BrokenRule.VOTE_IN_LEASE) ? LONG * LEASE_NS : LEASE_NS;
    this.times = new LogTimes(5_000_000, MISSED_NS, 3 * MISSED_NS, 5_000_000, leases ? longNs : 0);
    this.spite = new Spite(network, spite);
    this.broken = broken;
    this.slotCount = SLOTS[network.scheduler().random().nextInt(SLOTS.length)];
    this.memory = MappedMemory.anonymous((long) slotCount * SEGMENT_BYTES, true);
    this.bits = new LogBits(memory, slotCount, SEGMENT_BYTES);
  }

  @Override
  public int id() {
    return id;
  }

  /**
   * While it leads it sees to it, from its next start on, that the group has so many members; and
   * when it is damaged it begins anew.
   */
  void chooseMembers(int wanted) {
    wantedMembers = wanted;
  }

  /**
   * @param look is run when something was acknowledged, or a state was given up
   */
  void lookAtCopies(Runnable look) {
    copies = look;
  }

  /** It makes checkpoints only when its log is short of segments. */
  void checkpointWhenShort() {
    checkpointsAtRandom = false;
  }

  /** An administrator asks for another member; nothing happens when that cannot be. */
  void replace(int leaves, int comes) {
    try {
      change.replace(leaves, comes);
    } catch (TakoException e) {
      // One leaves that is no member, say.
    }
  }

  /** It stands for election only when it misses its leader. */
  void calmDown() {
    restlessness = 0;
    spite.end();
  }

  LogMember member() {
    return member;
  }

  ReplicatedLog log() {
    return log;
  }

  @Override
  public long leadingTerm() {
    return member.role() == LogMember.Role.LEADING ? member.term() : 0;
  }

  @Override
  public long lastIndex() {
    return replica.lastIndex();
  }

  @Override
  public long promisedTerm() {
    return replica.promisedTerm();
  }

  @Override
  public long trimmedIndex() {
    return replica.trimmedIndex();
  }

  @Override
  public long checkpointIndex() {
    return checkpoint.index();
  }

  /** Others have the entries in their checkpoints while there is no state here. */
  @Override
  public boolean hasCheckpoint() {
    return !checkpoint.isIncomplete();
  }

  @Override
  public long acceptedTerm() {
    return replica.acceptedTerm();
  }

  @Override
  public long configEpoch() {
    return replica.epoch();
  }

  @Override
  public boolean isSound() {
    return replica.damage() == null;
  }

  @Override
  public int renewals() {
    return renewals;
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
    if (broken.contains(BrokenRule.AMNESIA) && epoch() > 1) {
      forget();
    }
    LogZone zone = new LogZone(slots, (slot, offset, length) -> persist(born));
    LogIdentity identity = new LogIdentity(GROUP, (int) epoch());
    BrokenParts parts = new BrokenParts(broken, scheduler(), born);
    MemoryRegion record = domain.allocate(Layout.HEARTBEAT_SIZE, Access.REMOTE_READ_WRITE);
    heartbeat = record.buffer();
    LogTransport via =
        new LogTransport(
            transport.name(), domain, new LogMemory(regions, record), parts.counted(queue));
    LogTransports reachable = new LogTransports();
    reachable.add(via);
    TakoException damage = null;
    try {
      replica =
          parts.replica(id, zone, reachable, identity, checkpoint.index(), this::areWritersGone);
      undamage();
    } catch (TakoException e) {
      boolean busy = e.status() == Status.BUSY && !areWritersGone();
      boolean corrupt = e.status() == Status.CORRUPT && isDamaged();
      if (!busy && !corrupt) {
        throw e;
      }
      if (busy || wantedMembers == 0) {
        born.kill(); // it is started again later, maybe in vain
        born.checkAlive();
      }
      damage = e;
      replica = LogReplica.openDamaged(zone, reachable, identity, this::areWritersGone, e);
    }
    born.atDeath(() -> straysEndNs = scheduler().nowNs() + network.strayNs());
    waiting.clear();
    reads.clear();
    leaseTerm = 0;
    round = null;
    useCheckpoint();
    log = new ReplicatedLog(replica, checkpoint.index());
    QueuePairConfig pairs = new QueuePairConfig(domain, queue, queue, 16, 0);
    SimLogPeers peers = new SimLogPeers(network, group, born, transport, via, pairs, parts, spite);
    view = new SimCatalogView(scheduler(), catalog, id, born, this::hasLearned, broken);
    member =
        new LogMember(
            GROUP,
            replica,
            log,
            peers,
            view,
            times,
            clock(),
            new Random(network.scheduler().random().nextLong()));
    state =
        broken.contains(BrokenRule.CHECKPOINT_OVERTAKEN)
            ? new UncheckedState(replica, log, member, delivered::clear, !checkpoint.isIncomplete())
            : new MemberState(replica, log, member, delivered::clear, !checkpoint.isIncomplete());
    takeover =
        new CheckpointTakeover(
            state::needsCheckpoint,
            new SimTakeover(network, group, this, born, state),
            TAKEOVER_PAUSE_NS);
    standsWithoutState();
    if (wantedMembers != 0) {
      MemberSettings settings = new MemberSettings(times, wantedMembers, REPLACE_AFTER_NS);
      change = new MemberChange(member, peers, view, view, settings);
      renewal =
          new SimRenewal(
                  replica,
                  state,
                  takeover,
                  () -> formatCheckpoint(born),
                  this::useCheckpoint,
                  this::undamage)
              .by(scheduler(), born, epoch(), view, broken);
      damageAtStart = damage == null ? "" : damage.getMessage();
      view.register(epoch(), damageAtStart);
    }
    if (damage != null) {
      member.joined(id);
    }
    transport.listen(endpoint(), new SimLogDoor(pairs, replica, parts));
    tick(born);
  }

  /** An empty checkpoint takes the place of its own; its promise is destroyed already. */
  private void formatCheckpoint(SimProcess born) {
    renewals++;
    renewed = true;
    persist(born);
    checkpoint.format();
    lostState = false;
    persist(born);
  }

  /** Whatever had changed by itself is gone, if it has begun anew. */
  private void undamage() {
    if (renewed) {
      renewed = false;
      damaged.remove(id);
    }
  }

  /** Whether nobody stores any more whom an earlier process let in. */
  private boolean areWritersGone() {
    return scheduler().nowNs() >= straysEndNs;
  }

  /** A step of making something persistent, which may be the last one of the process. */
  private void persist(SimProcess born) {
    if (!looks && diesPersisting()) {
      born.kill();
    }
    born.checkAlive();
  }

  /** Whether a server has this leader's log, or a later one, or had it until its bits changed. */
  private boolean hasLearned(int server) {
    return damaged.contains(server)
        || group.get(server - 1).acceptedTerm() >= replica.acceptedTerm();
  }

  private void forget() {
    for (int at = 0; at < slotCount * SEGMENT_BYTES; at += Long.BYTES) {
      memory.slice(at, Long.BYTES).putLong(0, 0);
    }
    checkpoint.format();
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
              LogMember.Role before = member.role();
              member.tick();
              if (broken.contains(BrokenRule.EARLY_ACTIVE)
                  && member.role() == LogMember.Role.OPENING) {
                catalog.activate(member.config().epoch());
              }
              deliverAll();
              if (change != null && scheduler().nowNs() - changeLookNs >= CHANGE_LOOK_NS) {
                changeLookNs = scheduler().nowNs();
                change.tick(changeLookNs);
                renewal.tick(changeLookNs);
                if (scheduler().random().nextInt(SESSION_ENDS_IN) == 0) {
                  view.register(epoch(), damageAtStart);
                }
              }
              answerReads();
              readByLease();
              if (member.role() != before) {
                spite.strike(born);
              }
              takeOver();
              endCheckpoint();
              if (log.needsCheckpoint() && member.leadingTerm() == 0) {
                forgetUncommitted();
              }
              if (log.wantsTrim()
                  || (checkpointsAtRandom && scheduler().random().nextInt(CHECKPOINT_IN) == 0)) {
                checkpoint();
              }
              tick(born);
            });
  }

  /** Only a member that has a state applies entries. */
  private void deliverAll() {
    if (state.isGivenUp()) {
      log.advance();
    } else {
      log.poll(this::deliver);
    }
  }

  /** Keeps what was delivered since the last one, and gives up what all members have kept. */
  void checkpoint() {
    if (!state.isGivenUp() && frozenIndex == 0) {
      frozenIndex = Math.max(executedIndex, deliveredIndex);
      endCheckpoint();
    }
  }

  /** A checkpoint has what was executed when it began, and is one when that is committed. */
  private void endCheckpoint() {
    if (frozenIndex != 0 && frozenIndex <= deliveredIndex) {
      checkpoint.extend(delivered, frozenIndex);
      log.trim(checkpoint.index());
      frozenIndex = 0;
    }
  }

  /** It goes back to what is committed: nobody may ever commit the rest. */
  private void forgetUncommitted() {
    executedIndex = 0;
    frozenIndex = 0;
  }

  private void takeOver() {
    if (renewal != null && renewal.isBusy()) {
      return;
    }
    int leads = member.leader();
    takeover.tick(
        clock().nanoTime(),
        leads,
        CheckpointTakeover.sources(leads, replica.promisedTo(), view.read(), id));
  }

  /**
   * Another member takes the checkpoint over that there is now.
   *
   * @return null when it is older than {@code needed}: there is a newer one soon
   */
  SimCheckpoint.Held hold(long needed) {
    if (!isSound() || state.isGivenUp()) {
      return null;
    }
    if (checkpoint.index() < needed) {
      if (member.leadingTerm() == 0) {
        forgetUncommitted();
      }
      checkpoint();
      return null;
    }
    return checkpoint.hold();
  }

  /** Whether a checkpoint that was held here may still be read. */
  boolean isHeld(SimCheckpoint.Held held) {
    return checkpoint.has(held);
  }

  /** From now on there is no checkpoint, also when the process ends. */
  void beginCheckpoint(SimProcess born) {
    persist(born);
    checkpoint.begin();
    copies.run();
    persist(born);
    standsWithoutState();
  }

  private void standsWithoutState() {
    if (broken.contains(BrokenRule.LEADS_WITHOUT_STATE)) {
      member.setAble();
    }
  }

  /** The checkpoint of another member is that of this one. */
  void finishCheckpoint(SimProcess born, SimCheckpoint.Held held) {
    persist(born);
    checkpoint.finish(held);
    persist(born);
    lostState = false;
    state.take(held.index(), this::useCheckpoint);
    takeovers++;
  }

  /** The checkpoint that is still here is the state again. */
  void takeBack() {
    state.take(checkpoint.index(), this::useCheckpoint);
  }

  private void useCheckpoint() {
    forgetUncommitted();
    delivered.clear();
    delivered.putAll(checkpoint.values());
    deliveredIndex = checkpoint.index();
  }

  /** How often it has taken the checkpoint of another member over. */
  int takeovers() {
    return takeovers;
  }

  private void deliver(long index, long term, ByteBuffer payload) {
    if (index <= executedIndex && term != executedTerm) {
      forgetUncommitted(); // another leader's entry came instead
    }
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
      history.acknowledge(index, value, replica.promisedTerm());
      copies.run();
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
      executedIndex = log.propose(payload);
      executedTerm = member.term();
      waiting.add(value);
      deliverAll();
      return true;
    } catch (TakoException e) {
      return false;
    }
  }

  /** Answers a call of another member. */
  Reply answer(Request request) {
    if (broken.contains(BrokenRule.ADOPT_UNHEARD) && request.hasAdoptLog()) {
      return Reply.getDefaultInstance();
    }
    if (request.hasMoveLeader()) {
      boolean stands = member.stand(request.getMoveLeader().getTerm());
      return Reply.newBuilder().setStatus(stands ? Status.OK : Status.BUSY).build();
    }
    Reply reply = member.handle(request);
    if (broken.contains(BrokenRule.COUNTS_WITHOUT_STATE) && request.hasAdoptLog()) {
      return reply.toBuilder()
          .setLogPosition(reply.getLogPosition().toBuilder().setHasState(true))
          .build();
    }
    if (broken.contains(BrokenRule.VOTE_IN_LEASE) && reply.hasLogGrant()) {
      return reply.toBuilder()
          .setLogGrant(reply.getLogGrant().toBuilder().setHoldNs(LONG * MISSED_NS))
          .build();
    }
    return reply;
  }

  /** A read that asks nobody, where this member has a lease. */
  private void readByLease() {
    if (times.leaseNs() != 0
        && member.role() == LogMember.Role.LEADING
        && (member.hasLease(member.term()) || hasLeaseByTime())) {
      checkRead(history.acknowledgedIndex());
      history.countLeaseRead();
    }
  }

  /** Reads by its lease no more in this term; 0 when it does not lead. */
  long releaseLease() {
    releasedTerm = member.releaseLease();
    return releasedTerm;
  }

  /**
   * A lease as the clock alone tells: it outlives connections that have failed, which the member's
   * own does not.
   */
  private boolean hasLeaseByTime() {
    if (round != null && member.isProven(round)) {
      leaseNs = broken.contains(BrokenRule.LEASE_FROM_ANSWER) ? clock().nanoTime() : roundNs;
      leaseTerm = round.term();
      round = null;
    }
    if (round == null || round.term() != member.term()) {
      roundNs = clock().nanoTime();
      round = member.beginRead();
    }
    return member.term() == leaseTerm
        && member.term() != releasedTerm
        && clock().nanoTime() - leaseNs < times.leaseNs();
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
        checkRead(reads.remove(ticket));
        history.countRead();
      }
    }
  }

  /** An answer must have all that anybody was told of up to {@code index}. */
  private void checkRead(long index) {
    if (state.isGivenUp()) {
      throw new AssertionError("member " + id + " answers a read without a state");
    }
    if (log.commitIndex() < index) {
      throw new AssertionError(
          "member %d answers a read as of index %d, and %d was acknowledged before"
              .formatted(id, log.commitIndex(), index));
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

  /**
   * A bit of its log changes; or one of its checkpoint, and the process ends, too. At a member that
   * does not lead it is not one of a frame that came since its last look, unless a heartbeat has
   * come that counts the frame, and the member looks now: what nothing names is lost when the
   * leader with the other copy is cut off, too.
   */
  @Override
  public void flipBit() {
    boolean isOfCheckpoint = scheduler().random().nextInt(CHECKPOINT_FLIPS_IN) == 0;
    if (!mayBeDamaged()) {
      return;
    }
    if (isOfCheckpoint) {
      loseState();
      return;
    }
    boolean leads = isAlive() && member.leadingTerm() != 0;
    long counted = isAlive() ? countedIndex() : 0;
    if (bits.flip(scheduler().random(), index -> leads || index <= counted)) {
      damaged.add(id);
      if (isAlive() && !leads) {
        looks = true;
        try {
          replica.scan();
        } finally {
          looks = false;
        }
      }
    }
  }

  /** The process ends, and the next one finds no checkpoint that is whole. */
  void loseState() {
    kill();
    checkpoint.begin();
    lostState = true;
  }

  /**
   * Whether the group goes on without this one, because another member has a state and a log with
   * all that was ever delivered. No rule of the log lets that be lost by itself.
   */
  boolean canBeSpared() {
    GroupConfig config = catalog.newest();
    return group.stream().anyMatch(each -> each != this && each.counts(config) && each.hasAll())
        && isWholeMajority(config.members())
        && (config.active() || isWholeMajority(config.previous()));
  }

  private boolean counts(GroupConfig config) {
    return config.members().contains(id) || (!config.active() && config.previous().contains(id));
  }

  /**
   * Whether its durable state has the entry, or a frame of it is in its log, which continues that.
   * While it is down, or a leader may write to it, a frame anywhere in its memory counts: what will
   * be its log is known only when it looks again.
   *
   * @param value of the entry
   */
  boolean has(long index, long value) {
    if (!hasCheckpoint() || trimmedIndex() > checkpoint.index()) {
      return false;
    }
    boolean looked = isAlive() && !LogEntries.isGranted(replica);
    return checkpoint.index() >= index
        || (looked ? LogEntries.has(replica, index, value) : bits.has(value));
  }

  private boolean hasAll() {
    Map.Entry<Long, Long> last = history.values().lastEntry();
    return !isFaulty()
        && hasCheckpoint()
        && (last == null
            || checkpoint.index() >= last.getKey()
            || LogEntries.has(replica, last.getKey(), last.getValue()));
  }

  private boolean isWholeMajority(Set<Integer> members) {
    long whole =
        members.stream().filter(each -> each != id && !group.get(each - 1).isFaulty()).count();
    return 2 * whole > members.size();
  }

  /** A bit of an entry that it has applied changes; false when none may. */
  boolean damageEntry() {
    NavigableMap<Long, Long> kept = delivered.tailMap(trimmedIndex(), false);
    if (kept.isEmpty() || !mayBeDamaged()) {
      return false;
    }
    long span = kept.lastKey() - kept.firstKey() + 1;
    Long index = kept.ceilingKey(kept.firstKey() + scheduler().random().nextLong(span));
    boolean flipped = flipBitOf(kept.get(index));
    if (flipped) {
      damaged.add(id);
    }
    return flipped;
  }

  /** Never are so many members damaged at once that a majority may be. */
  private boolean mayBeDamaged() {
    GroupConfig config = catalog.newest();
    long faulty =
        group.stream()
            .filter(each -> each.isDamaged() || (each.lostState && each.counts(config)))
            .count();
    return !isFaulty() && faulty < damagedMax && canBeSpared();
  }

  /** Whether its log, or its state, was damaged, and is not whole again. */
  boolean isFaulty() {
    return isDamaged() || lostState;
  }

  /** Up to which frame the leader counts what it has written here, as its last heartbeat says. */
  private long countedIndex() {
    boolean whole =
        heartbeat.getInt(Layout.HEARTBEAT_TERM_OFFSET) == (int) replica.promisedTerm()
            && replica.promisedTerm() == replica.acceptedTerm()
            && heartbeat.getInt(Layout.HEARTBEAT_CRC32C_OFFSET)
                == new Crc32cScratch()
                    .ofRange(heartbeat.duplicate(), 0, Layout.HEARTBEAT_CRC32C_OFFSET);
    return whole ? heartbeat.getLong(Layout.HEARTBEAT_COUNTED_INDEX_OFFSET) : 0;
  }

  /** A bit of {@code value}, of which its log has a frame, changes; false when there is none. */
  boolean flipBitOf(long value) {
    return bits.flipIn(value);
  }

  /** Whether a bit of its log has changed by itself, since it began anew. */
  boolean isDamaged() {
    return damaged.contains(id);
  }

  @Override
  public void losePool() {
    // A member that lost its memory is another member: the configuration would have to change.
  }
}
