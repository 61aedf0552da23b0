package io.takofs.transport.tcp;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The operations that one side of a pair asks of the other: staged, posted, done, in that order.
 * The n-th operation has the number n on the wire and lives in slot {@code (n - 1) mod capacity}.
 *
 * <p>Thread rule: {@link #stage} and {@link #slotsFree} by the posting thread; {@link
 * #slotReleased} by any; everything else under the pair's lock.
 */
final class TcpRequester {
  private final TcpQueuePair pair;
  private final TcpOutbound outbound;
  private final TcpProtectionDomain domain;
  private final TcpCompletionQueue completions;
  private final int maxSends;
  private final int mask;
  private final ByteBuffer headers;
  private final ByteBuffer[] headerViews;
  private final TcpFrame frame = new TcpFrame();
  private final long[] ids;
  private final Opcode[] opcodes;
  private final boolean[] signalled;
  private final int[] lengths;
  private final ScatterGather[] pieces;
  private final boolean[] faulty;
  private final AtomicLong released = new AtomicLong();

  /** Local bytes staged since {@link #takeStagedBytes}. */
  private long stagedBytes;

  private long staged;
  private long posted;
  private long done;

  /** Operations that went out; the first faulty one and all after it stay here. */
  private long sent;

  private boolean halted;
  private long headSinceNs;

  TcpRequester(TcpQueuePair pair, TcpOutbound outbound, QueuePairConfig config) {
    this.pair = pair;
    this.outbound = outbound;
    this.domain = (TcpProtectionDomain) config.domain();
    this.completions = (TcpCompletionQueue) config.sendQueue();
    this.maxSends = config.maxSends();
    int capacity = Integer.highestOneBit(Math.max(1, 2 * maxSends - 1));
    this.mask = capacity - 1;
    this.headers =
        ByteBuffer.allocateDirect(capacity * Layout.TCP_FRAME_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    this.headerViews = new ByteBuffer[capacity];
    this.ids = new long[capacity];
    this.opcodes = new Opcode[capacity];
    this.signalled = new boolean[capacity];
    this.lengths = new int[capacity];
    this.pieces = new ScatterGather[capacity];
    this.faulty = new boolean[capacity];
    for (int i = 0; i < capacity; i++) {
      headerViews[i] = headers.slice(i * Layout.TCP_FRAME_SIZE, Layout.TCP_FRAME_SIZE);
      pieces[i] = new ScatterGather();
    }
  }

  int slotsFree() {
    return (int) (maxSends - (staged - released.get()));
  }

  void slotReleased() {
    released.incrementAndGet();
  }

  void stage(WorkRequest request) {
    int free = slotsFree();
    Invariant.check(free > 0, () -> "more than " + maxSends + " sends outstanding");
    int slot = (int) staged & mask;
    ScatterGather local = request.local();
    boolean atomic = request.isAtomic();
    long total = 0;
    boolean fits = true;
    pieces[slot].clear();
    for (int i = 0; i < local.count(); i++) {
      fits &= isInside(local, i);
      total += local.length(i);
      pieces[slot].add(local.region(i), local.offset(i), local.length(i));
    }
    fits &= total <= Layout.ARENA_SIZE && (!atomic || (local.count() == 1 && total == Long.BYTES));
    ids[slot] = request.id();
    opcodes[slot] = request.opcode();
    signalled[slot] = request.isSignaled();
    lengths[slot] = (int) total;
    faulty[slot] = !fits;
    // Unsignalled ones ask too when slots get few, or nobody would ever give them back.
    boolean acknowledge = signalled[slot] || free <= maxSends / 2;
    frame
        .wrap(headers, slot * Layout.TCP_FRAME_SIZE)
        .set(
            frameOpcode(request.opcode()),
            acknowledge,
            atomic ? 0 : (int) total,
            request.rkey(),
            request.immediate(),
            request.remoteAddress(),
            request.operand(),
            request.desired());
    stagedBytes += fits ? total : 0;
    staged++;
  }

  private static int frameOpcode(Opcode opcode) {
    return switch (opcode) {
      case WRITE -> Layout.TCP_WRITE;
      case WRITE_WITH_IMMEDIATE -> Layout.TCP_WRITE_WITH_IMMEDIATE;
      case READ -> Layout.TCP_READ;
      case COMPARE_AND_SWAP -> Layout.TCP_COMPARE_AND_SWAP;
      case FETCH_AND_ADD -> Layout.TCP_FETCH_AND_ADD;
      default -> throw new IllegalArgumentException(opcode + " is not sent over tcp");
    };
  }

  private boolean isInside(ScatterGather local, int piece) {
    return local.region(piece) instanceof TcpMemoryRegion region
        && region.domain() == domain
        && region.isOpen()
        && local.offset(piece) >= 0
        && local.length(piece) >= 0
        && local.offset(piece) <= region.length() - local.length(piece);
  }

  private static boolean hasResult(Opcode opcode) {
    return opcode != Opcode.WRITE && opcode != Opcode.WRITE_WITH_IMMEDIATE;
  }

  /** Operations staged and not posted. The posting thread. */
  int stagedCount() {
    return (int) (staged - posted);
  }

  /** Local bytes of what was staged since the last call. The posting thread. */
  long takeStagedBytes() {
    long taken = stagedBytes;
    stagedBytes = 0;
    return taken;
  }

  /** Hands what is staged to the outbound queue. */
  void post(long nowNs) {
    if (done == posted) {
      headSinceNs = nowNs;
    }
    for (; posted < staged; posted++) {
      int slot = (int) posted & mask;
      if (halted || faulty[slot]) {
        halted = true;
        continue;
      }
      sent++;
      outbound.add(headerViews[slot].clear());
      if (!hasResult(opcodes[slot])) {
        ScatterGather local = pieces[slot];
        for (int i = 0; i < local.count(); i++) {
          if (local.length(i) > 0) {
            outbound.add(
                ((TcpMemoryRegion) local.region(i)).slice(local.offset(i), local.length(i)));
          }
        }
      }
    }
  }

  /** Whether all before an operation with a faulty local side are done, and so it is its turn. */
  boolean mustFailLocally() {
    return halted && done == sent;
  }

  /** Whether an operation with a faulty local side waits for the ones before it. */
  boolean isHalted() {
    return halted;
  }

  boolean isIdle() {
    return done == posted;
  }

  /** Time for which the oldest posted operation has been the oldest; 0 if there is none. */
  long headAgeNs(long nowNs) {
    return isIdle() ? 0 : nowNs - headSinceNs;
  }

  /** The peer did all up to {@code number}. Returns false if it cannot have. */
  boolean acknowledge(long number, boolean withResult, long nowNs) {
    if (number > sent || number < 0) {
      return false;
    }
    while (done < number) {
      int slot = (int) done & mask;
      if (hasResult(opcodes[slot]) && !(withResult && done == number - 1)) {
        return false;
      }
      complete(slot, CompletionStatus.SUCCESS);
      headSinceNs = nowNs;
    }
    return true;
  }

  private void complete(int slot, CompletionStatus status) {
    done++;
    if (signalled[slot] || status != CompletionStatus.SUCCESS) {
      boolean read = opcodes[slot] == Opcode.READ && status == CompletionStatus.SUCCESS;
      completions.add(pair, ids[slot], opcodes[slot], status, read ? lengths[slot] : 0, 0);
    } else {
      slotReleased();
    }
  }

  /**
   * The local bytes that the result of request {@code number} goes to, or null if no such result is
   * due.
   */
  ScatterGather resultOf(long number, boolean atomic, int length) {
    if (number <= done || number > sent) {
      return null;
    }
    int slot = (int) (number - 1) & mask;
    Opcode opcode = opcodes[slot];
    boolean expected =
        atomic
            ? opcode == Opcode.COMPARE_AND_SWAP || opcode == Opcode.FETCH_AND_ADD
            : opcode == Opcode.READ && length == lengths[slot];
    return expected ? pieces[slot] : null;
  }

  /** Completes all posted and staged operations: the oldest as said, the others FLUSHED. */
  void flush(CompletionStatus oldest, boolean stagedToo) {
    if (stagedToo) {
      posted = staged;
    }
    CompletionStatus status = oldest;
    while (done < posted) {
      complete((int) done & mask, status);
      status = CompletionStatus.FLUSHED;
    }
  }
}
