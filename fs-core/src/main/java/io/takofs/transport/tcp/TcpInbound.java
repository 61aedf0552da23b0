package io.takofs.transport.tcp;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the frames of one connection and applies them: requests of the peer to registered memory,
 * results to the local side of own requests. A payload is read from the socket into its place;
 * further bytes of the socket land in a scratch buffer, where the next headers are.
 *
 * <p>Thread rule: the event loop, under {@link #applying}, which others take to make it stop.
 */
final class TcpInbound implements TcpInput {
  private static final int SCRATCH = 32 << 10;
  private static final String REGION_CLOSED =
      "a region was closed while bytes for it were under way";
  private static final ThreadLocal<ByteBuffer> SCRATCHES =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(SCRATCH));

  /** Held while bytes are read and applied, never while upper layers run. */
  final ReentrantLock applying = new ReentrantLock();

  private final TcpQueuePair pair;
  private final ByteBuffer header =
      ByteBuffer.allocate(Layout.TCP_FRAME_SIZE).order(ByteOrder.LITTLE_ENDIAN);
  private final TcpFrame frame = new TcpFrame().wrap(header, 0);

  /** The places that the payload under way still has to fill, and the scratch buffer after them. */
  private final ByteBuffer[] places = new ByteBuffer[ScatterGather.MAX + 1];

  private final TcpMemoryRegion[] placeRegions = new TcpMemoryRegion[ScatterGather.MAX];
  private int place;
  private int placeCount;

  /** Bytes read after a write with immediate that waits for its receive. */
  private ByteBuffer held;

  private long requests;
  private boolean stalled;
  private boolean discarding;
  private boolean ended;
  private boolean more;
  private boolean heard;

  TcpInbound(TcpQueuePair pair) {
    this.pair = pair;
  }

  /** Applies nothing more. Under {@link #applying}. */
  void end() {
    ended = true;
    held = null;
  }

  /** Whether anything came since the last call. */
  boolean takeHeard() {
    boolean was = heard;
    heard = false;
    return was;
  }

  @Override
  public int read(SocketChannel socket) throws IOException {
    applying.lock();
    try {
      if (ended) {
        return -1;
      }
      ByteBuffer scratch = SCRATCHES.get().clear().order(ByteOrder.LITTLE_ENDIAN);
      places[placeCount] = scratch;
      long room = 0;
      for (int i = place; i <= placeCount; i++) {
        room += places[i].remaining();
      }
      long count = socket.read(places, place, placeCount - place + 1);
      places[placeCount] = null;
      more = count == room;
      if (count > 0) {
        heard = true;
        scratch.flip();
        advance();
        consume(scratch);
      }
      return ended ? -1 : (int) count;
    } finally {
      applying.unlock();
    }
  }

  /** A region was closed: transfers that are under way for it cannot go on. */
  void regionClosed(TcpMemoryRegion region) {
    applying.lock();
    try {
      for (int i = place; i < placeCount; i++) {
        if (placeRegions[i].equals(region)) {
          pair.breakOff(REGION_CLOSED);
          return;
        }
      }
    } finally {
      applying.unlock();
    }
  }

  @Override
  public boolean wantsMore() {
    return more && !stalled && !ended;
  }

  @Override
  public void readComplete() {
    pair.batchDone();
  }

  @Override
  public void closed(String reason) {
    pair.disconnected(reason);
  }

  /** The receive that a write with immediate waits for may have been posted. Event loop. */
  void resume() {
    applying.lock();
    try {
      if (!stalled || ended || !pair.receiveImmediate(frame.length(), frame.immediate())) {
        return;
      }
      stalled = false;
      done();
      ByteBuffer rest = held;
      held = null;
      if (rest != null) {
        consume(rest);
      }
      if (!stalled) {
        pair.readOn();
      }
    } finally {
      applying.unlock();
    }
    pair.batchDone();
  }

  /** The receive did not come in time. Event loop. */
  void receiverTimedOut(long request) {
    applying.lock();
    try {
      if (stalled && !ended && requests == request) {
        stalled = false;
        held = null;
        refuse(Layout.TCP_REFUSE_NO_RECEIVE, "no receive was posted for a write with immediate");
        pair.readOn();
      }
    } finally {
      applying.unlock();
    }
    pair.batchDone();
  }

  private void consume(ByteBuffer bytes) {
    while (bytes.hasRemaining() && !discarding && !ended) {
      if (stalled) {
        held = ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
        return;
      }
      if (place < placeCount) {
        copy(bytes, places[place]);
        advance();
      } else {
        copy(bytes, header);
        if (!header.hasRemaining()) {
          header.clear();
          begin();
        }
      }
    }
  }

  private static void copy(ByteBuffer from, ByteBuffer to) {
    int count = Math.min(from.remaining(), to.remaining());
    to.put(to.position(), from, from.position(), count);
    from.position(from.position() + count);
    to.position(to.position() + count);
  }

  /** Leaves the places that are full; after the last one the payload is complete. */
  private void advance() {
    if (place == placeCount) {
      return;
    }
    while (place < placeCount && !places[place].hasRemaining()) {
      places[place++] = null;
    }
    if (place == placeCount) {
      place = 0;
      placeCount = 0;
      payloadDone();
    }
  }

  private void begin() {
    if (!frame.isWellFormed()) {
      pair.breakOff("the peer sent a malformed frame");
      return;
    }
    switch (frame.opcode()) {
      case Layout.TCP_WRITE, Layout.TCP_WRITE_WITH_IMMEDIATE -> write();
      case Layout.TCP_READ -> read();
      case Layout.TCP_COMPARE_AND_SWAP, Layout.TCP_FETCH_AND_ADD -> atomic();
      case Layout.TCP_READ_RESULT -> readResult();
      case Layout.TCP_ATOMIC_RESULT -> atomicResult();
      case Layout.TCP_ACKNOWLEDGE -> pair.acknowledged(frame.address(), false);
      case Layout.TCP_REFUSE -> pair.refused(frame.address(), frame.immediate());
      case Layout.TCP_PING -> pair.owe(requests, true);
      default -> pair.breakOff("the peer sent a frame of unknown kind " + frame.opcode());
    }
  }

  private void write() {
    requests++;
    if (frame.length() > 0) {
      TcpMemoryRegion region = pair.domain().find(frame.rkey());
      if (region == null
          || !region.isWritable()
          || !region.covers(frame.address(), frame.length())) {
        refuse(
            Layout.TCP_REFUSE_ACCESS,
            "a write of " + frame.length() + " bytes where none may be written");
        return;
      }
      addPlace(region, region.offset(frame.address()), frame.length());
    } else {
      payloadDone();
    }
  }

  private void addPlace(TcpMemoryRegion region, int offset, int length) {
    placeRegions[placeCount] = region;
    places[placeCount] = region.slice(offset, length);
    placeCount++;
  }

  private void payloadDone() {
    if (frame.opcode() == Layout.TCP_READ_RESULT) {
      pair.acknowledged(frame.address(), true);
    } else if (frame.opcode() == Layout.TCP_WRITE
        || pair.receiveImmediate(frame.length(), frame.immediate())) {
      done();
    } else {
      stalled = true;
      pair.awaitReceive(requests);
    }
  }

  /** The request under way is applied. */
  private void done() {
    pair.owe(requests, frame.acknowledge());
  }

  private void read() {
    requests++;
    TcpMemoryRegion region = pair.domain().find(frame.rkey());
    boolean empty = frame.length() == 0;
    if (!empty
        && (region == null
            || !region.isReadable()
            || !region.covers(frame.address(), frame.length()))) {
      refuse(
          Layout.TCP_REFUSE_ACCESS,
          "a read of " + frame.length() + " bytes where none may be read");
      return;
    }
    pair.respond(
        Layout.TCP_READ_RESULT,
        requests,
        0,
        empty ? null : region.slice(region.offset(frame.address()), frame.length()));
  }

  private void atomic() {
    requests++;
    TcpMemoryRegion region = pair.domain().find(frame.rkey());
    if (region == null || !region.takesAtomics(frame.address())) {
      refuse(Layout.TCP_REFUSE_ACCESS, "an atomic operation where none is allowed");
      return;
    }
    int offset = region.offset(frame.address());
    long old =
        frame.opcode() == Layout.TCP_FETCH_AND_ADD
            ? region.fetchAndAdd(offset, frame.operand1())
            : region.compareAndSwap(offset, frame.operand1(), frame.operand2());
    pair.respond(Layout.TCP_ATOMIC_RESULT, requests, old, null);
  }

  private void readResult() {
    ScatterGather local = pair.resultOf(frame.address(), false, frame.length());
    if (local == null) {
      pair.breakOff("the peer sent the result of a read that it was not asked for");
      return;
    }
    for (int i = 0; i < local.count(); i++) {
      TcpMemoryRegion region = (TcpMemoryRegion) local.region(i);
      if (local.length(i) > 0 && !region.isOpen()) {
        pair.breakOff(REGION_CLOSED);
        return;
      }
      if (local.length(i) > 0) {
        addPlace(region, local.offset(i), local.length(i));
      }
    }
    if (placeCount == 0) {
      payloadDone();
    }
  }

  private void atomicResult() {
    ScatterGather local = pair.resultOf(frame.address(), true, Long.BYTES);
    if (local == null) {
      pair.breakOff("the peer sent the result of an atomic operation that it was not asked for");
      return;
    }
    TcpMemoryRegion region = (TcpMemoryRegion) local.region(0);
    if (region.isOpen()) {
      region.putLong(local.offset(0), frame.operand1());
      pair.acknowledged(frame.address(), true);
    } else {
      pair.breakOff(REGION_CLOSED);
    }
  }

  /** Refuses the request under way: the last thing the peer hears. */
  private void refuse(int reason, String text) {
    Invariant.check(!discarding, "two requests of one connection refused");
    discarding = true;
    pair.refuse(requests, reason, text);
  }
}
