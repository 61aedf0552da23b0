package io.takofs.transport.tcp;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * The bytes of one connection on their way out, in order: frame headers and slices of registered
 * memory.
 *
 * <p>Whoever calls {@link #flush} first becomes the writer and writes until the queue is empty,
 * what others add meanwhile included. So a call is written by the thread that makes it. When the
 * socket is full the rest goes to Netty, which waits until it is writable.
 *
 * <p>Thread rule: adding under the pair's lock, by any thread; {@link #flush} by any thread without
 * it.
 */
final class TcpOutbound {
  private static final int BATCH = 64;

  /** Written in one turn of the event loop, so that other connections get theirs. */
  private static final long TURN_BYTES = 1 << 20;

  private static final long BROKEN_LINGER_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Object lock;
  private final TcpChannel channel;

  // Guarded by lock.
  private ByteBuffer[] queue = new ByteBuffer[BATCH];
  private boolean[] response = new boolean[BATCH];
  private int head;
  private int size;
  private boolean writing;
  private final TcpFrame frame = new TcpFrame();
  private final ByteBuffer responseHeaders;
  private final int responsesMax;
  private int responseHead;
  private int responses;

  // The writer's.
  private final ByteBuffer[] batch = new ByteBuffer[BATCH];
  private int batchFirst;
  private int batchEnd;
  private int batchResponses;

  /**
   * @param responsesMax frames at most waiting that answer the peer
   */
  TcpOutbound(Object lock, TcpChannel channel, int responsesMax) {
    this.lock = lock;
    this.channel = channel;
    this.responsesMax = responsesMax;
    this.responseHeaders =
        ByteBuffer.allocateDirect(responsesMax * Layout.TCP_FRAME_SIZE)
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Adds bytes that stay unchanged until they are written. Lock held. */
  void add(ByteBuffer bytes) {
    add(bytes, false);
  }

  private void add(ByteBuffer bytes, boolean isResponse) {
    if (size == queue.length) {
      grow();
    }
    int at = (head + size) % queue.length;
    queue[at] = bytes;
    response[at] = isResponse;
    size++;
  }

  private void grow() {
    ByteBuffer[] newQueue = new ByteBuffer[2 * queue.length];
    boolean[] newResponse = new boolean[newQueue.length];
    for (int i = 0; i < size; i++) {
      int from = (head + i) % queue.length;
      newQueue[i] = queue[from];
      newResponse[i] = response[from];
    }
    queue = newQueue;
    response = newResponse;
    head = 0;
  }

  /**
   * Adds a frame that answers the peer. Lock held. Returns false when the peer caused more answers
   * than it may have outstanding.
   */
  boolean addResponse(int opcode, int length, int immediate, long number, long operand) {
    if (responses == responsesMax) {
      return false;
    }
    int slot = (responseHead + responses) % responsesMax * Layout.TCP_FRAME_SIZE;
    responses++;
    frame.wrap(responseHeaders, slot).set(opcode, false, length, 0, immediate, number, operand, 0);
    add(responseHeaders.slice(slot, Layout.TCP_FRAME_SIZE), true);
    return true;
  }

  /** Forgets what no writer has taken. Lock held; the socket is closed. */
  void drop() {
    while (size > 0) {
      queue[head] = null;
      head = (head + 1) % queue.length;
      size--;
    }
  }

  /** Writes nothing until {@link #release}. Lock held. */
  void hold() {
    writing = true;
  }

  void release() {
    writing = false;
  }

  /** Writes what was added, unless another thread is at it. */
  void flush() {
    synchronized (lock) {
      if (writing || !takeBatch()) {
        return;
      }
      writing = true;
    }
    write();
  }

  /** Lock held. */
  private boolean takeBatch() {
    responseHead = (responseHead + batchResponses) % responsesMax;
    responses -= batchResponses;
    batchResponses = 0;
    batchFirst = 0;
    batchEnd = Math.min(size, BATCH);
    for (int i = 0; i < batchEnd; i++) {
      batch[i] = queue[head];
      if (response[head]) {
        batchResponses++;
      }
      queue[head] = null;
      head = (head + 1) % queue.length;
    }
    size -= batchEnd;
    return batchEnd > 0;
  }

  private boolean nextBatch() {
    synchronized (lock) {
      writing = takeBatch();
      return writing;
    }
  }

  /** The writer's loop. */
  private void write() {
    long turn = 0;
    do {
      try {
        turn += channel.socket().write(batch, batchFirst, batchEnd - batchFirst);
      } catch (IOException e) {
        // The event loop first reads what the peer may have said before it went.
        channel.onLoop(channel::closeNow, BROKEN_LINGER_NS);
        return;
      }
      while (batchFirst < batchEnd && !batch[batchFirst].hasRemaining()) {
        batch[batchFirst++] = null;
      }
      if (batchFirst < batchEnd) {
        handOver();
        return;
      }
      if (turn > TURN_BYTES && channel.eventLoop().inEventLoop()) {
        channel.onLoop(this::writeOn);
        return;
      }
    } while (nextBatch());
  }

  private void writeOn() {
    if (nextBatch()) {
      write();
    }
  }

  /** The socket is full: Netty writes the rest of the batch when it can. */
  private void handOver() {
    if (!channel.eventLoop().inEventLoop()) {
      channel.onLoop(this::handOver);
      return;
    }
    ChannelFuture last = null;
    for (int i = batchFirst; i < batchEnd; i++) {
      last = channel.write(Unpooled.wrappedBuffer(batch[i]));
      batch[i] = null;
    }
    channel.flush();
    last.addListener(
        done -> {
          if (done.isSuccess()) {
            channel.onLoop(this::writeOn);
          } else {
            channel.onLoop(channel::closeNow, BROKEN_LINGER_NS);
          }
        });
  }
}
