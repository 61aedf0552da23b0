package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.Segment;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A log with several replicas, at the member that has it: as a leader it writes to the others
 * one-sided and counts, as a follower it delivers what is known to be committed.
 *
 * <p>An entry is committed when it is in the adopted logs of a majority of the members, its own
 * included, and each of them has a state that its log continues. What a member has counts by
 * contiguous completions under one grant ({@link FollowerStream}); what this member has counts
 * while it has promised no later term.
 *
 * <p>Thread rule: one thread at a time, the owner's, delivers; the others may be called by any. All
 * hold the replica's monitor, but not while a handler runs.
 */
public final class ReplicatedLog implements Log {
  /** Entries that are delivered with one look at the chain. */
  private static final int DELIVERED_AT_ONCE = 64;

  private static final int COMPLETIONS_AT_ONCE = 64;

  /**
   * Segments with entries that are not committed, beyond which nothing is proposed: a checkpoint
   * cannot take them, so each member must have room for them, beside as many of its own that they
   * replace: three and three of {@link GroupConfig#SEGMENTS_MIN}.
   */
  private static final int UNCOMMITTED_MAX = 2;

  private static final byte[] NOTHING = new byte[1];

  private final LogReplica replica;
  private final Map<Integer, FollowerStream> streams = new HashMap<>();
  private Set<Integer> members = Set.of();
  private long term; // in which this member leads, or opens its log; 0 for none
  private long firstIndex; // of the present term
  private long ownerTerm; // in which the owner proposes
  private long commitIndex;
  private long deliveredIndex;
  private long appendedBytes;

  private record Delivery(long index, long term, ByteBuffer payload) {}

  /**
   * @param checkpointIndex entries up to here are applied and not delivered again
   */
  public ReplicatedLog(LogReplica replica, long checkpointIndex) {
    this.replica = replica;
    this.deliveredIndex = checkpointIndex;
    this.commitIndex = checkpointIndex;
  }

  // ---- leading ------------------------------------------------------------------------------

  /** The members of the configuration that counts from now on. */
  void setMembers(Set<Integer> newMembers) {
    synchronized (replica) {
      members = Set.copyOf(newMembers);
    }
  }

  /**
   * Opens {@code newTerm}, in which this member has the promises of a majority and a log that is as
   * good as theirs. Nothing is appended before {@link #begin}.
   */
  void open(long newTerm) throws TakoException {
    synchronized (replica) {
      replica.lead(newTerm);
      commitIndex = Math.max(commitIndex, replica.commitIndex()); // of a log that it has just read
      term = newTerm;
      firstIndex = 0;
    }
  }

  /** Appends the entry with which the term begins; returns its index. */
  long begin() throws TakoException {
    synchronized (replica) {
      firstIndex = append(FrameCodec.NOOP, ByteBuffer.wrap(NOTHING));
      return firstIndex;
    }
  }

  /**
   * Another member knows that the entries up to {@code index} are committed: this leader has them
   * all. It needs to know of it when it cannot commit more before that member has its state, or has
   * room.
   */
  void learn(long index) {
    synchronized (replica) {
      if (index < firstIndex || (firstIndex == 0 && index <= replica.lastIndex())) {
        commitIndex = Math.max(commitIndex, index);
      }
    }
  }

  /** Whether an entry of the present term is committed: then all before it are. */
  boolean hasBegun() {
    synchronized (replica) {
      return firstIndex != 0 && commitIndex >= firstIndex;
    }
  }

  /** Whether there are committed entries that {@link #poll} has not delivered. */
  public boolean hasNews() {
    synchronized (replica) {
      return Math.min(commitIndex, replica.lastIndex()) > deliveredIndex;
    }
  }

  /** Delivers again what comes after {@code index}: the state was taken back to that. */
  public void rewind(long index) {
    synchronized (replica) {
      Invariant.check(index <= deliveredIndex, "a log is taken back, not forward");
      Invariant.check(index >= replica.trimmedIndex(), "the log has what comes after the state");
      deliveredIndex = index;
    }
  }

  /** This member leads no more. */
  void follow() {
    synchronized (replica) {
      term = 0;
      streams.values().forEach(stream -> stream.pair().close());
      streams.clear();
    }
  }

  boolean isLeading() {
    synchronized (replica) {
      return term != 0 && replica.isLeading(term);
    }
  }

  /**
   * The owner proposes in {@code newTerm} from now on.
   *
   * @throws TakoException NOT_LEADER when this member does not lead in it, or not any more
   */
  @Override
  public void lead(long newTerm) throws TakoException {
    synchronized (replica) {
      if (newTerm != term || firstIndex == 0 || !replica.isLeading(newTerm)) {
        throw new TakoException(
            Status.NOT_LEADER,
            "member " + replica.server() + " does not lead in term " + newTerm + " any more");
      }
      ownerTerm = newTerm;
    }
  }

  @Override
  public long term() {
    synchronized (replica) {
      return ownerTerm;
    }
  }

  /** Writes to the member of {@code stream} from now on. */
  void attach(FollowerStream stream) {
    synchronized (replica) {
      detach(stream.server());
      streams.put(stream.server(), stream);
    }
  }

  /** Writes no more to {@code server}. */
  void detach(int server) {
    synchronized (replica) {
      FollowerStream stream = streams.remove(server);
      if (stream != null) {
        stream.pair().close();
      }
    }
  }

  /** The writes to {@code server}; null when there are none. */
  FollowerStream stream(int server) {
    synchronized (replica) {
      return streams.get(server);
    }
  }

  /** Whether what this leader writes counts at a majority of the members. */
  boolean isAdopted() {
    synchronized (replica) {
      int count = 0;
      for (int member : members) {
        FollowerStream stream = streams.get(member);
        boolean has =
            member == replica.server()
                ? isLeading()
                : stream != null && stream.counts() && !stream.hasFailed();
        count += has ? 1 : 0;
      }
      return 2 * count > members.size();
    }
  }

  @Override
  public long propose(ByteBuffer payload) throws TakoException {
    int length = payload.remaining();
    if (length < 1 || length > payloadMax()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "a log entry of " + length + " bytes; 1 to " + payloadMax() + " are possible");
    }
    synchronized (replica) {
      if (ownerTerm != term || firstIndex == 0) {
        throw new TakoException(
            Status.NOT_LEADER, "member " + replica.server() + " leads in that term no more");
      }
      checkUncommitted();
      return append(FrameCodec.ENTRY, payload);
    }
  }

  private void checkUncommitted() throws TakoException {
    Chain chain = replica.chain();
    if (chain.segments().size() - chain.placeOf(commitIndex + 1) > UNCOMMITTED_MAX) {
      throw new TakoException(
          Status.NO_SPACE,
          "no majority of the members has taken the last "
              + UNCOMMITTED_MAX
              + " segments of the log yet");
    }
  }

  private long append(byte type, ByteBuffer payload) throws TakoException {
    long index = replica.append(term, type, commitIndex, payload);
    appendedBytes += FrameCodec.frameSize(payload.remaining());
    return index;
  }

  private int payloadMax() {
    return Math.min(
        Layout.FRAME_PAYLOAD_MAX,
        (replica.zone().segmentSize() - Layout.SEGMENT_DATA_OFFSET - FrameCodec.OVERHEAD)
            & -Layout.FRAME_ALIGN);
  }

  /** Sends what is to be sent, and learns what has been committed. Never blocks. */
  public void advance() {
    synchronized (replica) {
      trimCovered();
      if (term == 0) {
        replica.scan();
        commitIndex = Math.max(commitIndex, replica.commitIndex());
        return;
      }
      do {
        streams.values().forEach(FollowerStream::send);
      } while (replica.transports().poll(this::onCompletion, COMPLETIONS_AT_ONCE) > 0);
      count();
    }
  }

  private void onCompletion(
      QueuePair pair,
      long id,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    for (FollowerStream stream : streams.values()) {
      if (stream.pair() == pair) {
        stream.onCompletion(id, status);
      }
    }
  }

  /** Finds the highest index that a majority has. */
  private void count() {
    if (!isLeading() || firstIndex == 0) {
      return;
    }
    replica.commitTail();
    long[] has = new long[members.size()];
    int i = 0;
    for (int member : members) {
      FollowerStream stream = streams.get(member);
      if (member == replica.server()) {
        has[i++] = replica.lastIndex();
      } else {
        has[i++] = stream == null || !stream.counts() ? 0 : stream.writtenIndex();
      }
    }
    Arrays.sort(has);
    commitIndex = Math.max(commitIndex, has[(has.length - 1) / 2]);
    replica.learnCommitted(commitIndex);
  }

  // ---- delivering ---------------------------------------------------------------------------

  @Override
  public int poll(CommitHandler handler) {
    advance();
    int count = 0;
    for (List<Delivery> next = next(); !next.isEmpty(); next = next()) {
      for (Delivery each : next) {
        if (each.index <= deliveredIndex) {
          break; // a handler has skipped it
        }
        deliveredIndex = each.index;
        handler.onCommit(each.index, each.term, each.payload);
        count++;
      }
    }
    return count;
  }

  /** The next committed entries, copied: a segment may be given up while a handler runs. */
  private List<Delivery> next() {
    List<Delivery> next = new ArrayList<>();
    synchronized (replica) {
      long end = Math.min(commitIndex, replica.lastIndex());
      Chain chain = replica.chain();
      int place = chain.placeOf(deliveredIndex + 1);
      long index = deliveredIndex;
      while (index < end && next.size() < DELIVERED_AT_ONCE) {
        Segment segment = chain.segments().get(place++);
        int offset = segment.offsetOf(index + 1);
        while (index < Math.min(end, segment.lastIndex()) && next.size() < DELIVERED_AT_ONCE) {
          if (!replica.isStillWhole(segment, offset, index + 1)) {
            return next; // nobody gets garbage
          }
          next.add(delivery(segment, offset, ++index));
          offset = segment.next(offset);
        }
      }
    }
    return next;
  }

  private static Delivery delivery(Segment segment, int offset, long index) {
    ByteBuffer payload = segment.payload(offset);
    int length = segment.isEntry(offset) ? payload.remaining() : 0;
    ByteBuffer copy = ByteBuffer.allocate(length).put(payload.limit(payload.position() + length));
    return new Delivery(index, segment.entryTerm(offset), copy.flip().asReadOnlyBuffer());
  }

  @Override
  public long lastIndex() {
    return replica.lastIndex();
  }

  @Override
  public long commitIndex() {
    synchronized (replica) {
      return commitIndex;
    }
  }

  @Override
  public long appendedBytes() {
    synchronized (replica) {
      return appendedBytes;
    }
  }

  @Override
  public int segmentCount() {
    synchronized (replica) {
      return replica.chain().segments().size();
    }
  }

  @Override
  public int freeSegmentCount() {
    synchronized (replica) {
      return replica.freeSlots();
    }
  }

  /**
   * A leader can give no slot to a member that has none, and no member makes room for another one.
   * The oldest segments may be covered already ({@link #trimCovered}), and a checkpoint gives up
   * none while a member is waited for. A member that {@link #needsCheckpoint} wants one also when
   * its own segments are not short.
   */
  @Override
  public boolean wantsTrim() {
    synchronized (replica) {
      if (needsCheckpoint()) {
        return true;
      }
      List<Segment> segments = replica.chain().segments();
      int uncovered = replica.chain().placeOf(replica.checkpointIndex() + 1);
      return replica.isShort()
          && !waits()
          && uncovered < segments.size() - 1
          && segments.get(uncovered).lastIndex() <= deliveredIndex;
    }
  }

  @Override
  public boolean needsCheckpoint() {
    synchronized (replica) {
      long wanted = replica.wantedIndex();
      return wanted != 0 && wanted <= deliveredIndex;
    }
  }

  /**
   * Gives up what a checkpoint covers, when segments are short: it stayed for a member that lagged,
   * or has come later, with the log of a leader. A leader does so only when it waits for nobody: a
   * member without a stream at the moment may need them to catch up.
   */
  private void trimCovered() {
    List<Segment> segments = replica.chain().segments();
    if (segments.size() > 1
        && segments.get(0).lastIndex() <= replica.checkpointIndex()
        && replica.damage() == null
        && (term == 0 ? replica.isShort() : isScarce())) {
      trim(replica.checkpointIndex());
    }
  }

  /**
   * Whether this leader waits for no member any more that lags: few segments are left, and a
   * majority goes on without it. A leader without one could do nothing with the room.
   */
  private boolean isScarce() {
    return replica.isScarce() && isAdopted();
  }

  /** Whether this leader keeps all for a member that is away, which may come back with its log. */
  private boolean waits() {
    return term != 0 && !isScarce() && members.stream().anyMatch(this::isAway);
  }

  private boolean isAway(int member) {
    FollowerStream stream = streams.get(member);
    return member != replica.server() && (stream == null || stream.hasFailed());
  }

  /** Segments that another member needs stay, unless this leader waits for nobody that lags. */
  @Override
  public void trim(long index) {
    Invariant.check(index <= deliveredIndex, "only applied entries are in a checkpoint");
    synchronized (replica) {
      replica.cover(index);
      long limit = replica.chain().endOfOldest(index);
      boolean scarce = isScarce();
      for (FollowerStream stream : streams.values()) {
        if (stream.hasFailed()) {
          stream.giveUp(); // what of it completes yet counts for nothing
        } else if (stream.neededAfter() < limit) {
          if (scarce) {
            stream.giveUp(); // one member must not stop the group
          } else {
            limit = stream.neededAfter();
          }
        }
      }
      if (!waits()) {
        replica.trim(limit);
      }
    }
  }

  /** A checkpoint of another member was taken over: it has all entries up to {@code index}. */
  public void skipTo(long index) {
    synchronized (replica) {
      replica.cover(index);
      replica.trim(index);
      commitIndex = Math.max(commitIndex, index);
      deliveredIndex = Math.max(deliveredIndex, index);
    }
  }

  /** The log has begun anew ({@link LogReplica#renew}): nothing was delivered yet. */
  public void restart() {
    synchronized (replica) {
      commitIndex = 0;
      deliveredIndex = 0;
    }
  }

  @Override
  public void close() {
    follow();
  }
}
