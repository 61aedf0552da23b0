package io.takofs.bench.raw;

import io.takofs.transport.Access;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One of two processes with a connection between them: its transport, completion queue and memory.
 * The first half of the memory is sent from, the second half is the peer's to write.
 *
 * <p>Thread rule: one thread, but for the transport's own.
 */
final class Side implements AutoCloseable, CompletionHandler {
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long CONNECT_NS = 60 * SECOND_NS;

  /** The first immediate from the process that was started. */
  private static final int READY = 0;

  private final Transport transport;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final MemoryRegion memory;
  private final ByteBuffer bytes;
  private final ScatterGather message = new ScatterGather();
  private final int half;
  private final int depth;
  private volatile QueuePair pair;
  private Process peer;
  private long peerAddress;
  private int peerKey;
  private boolean ended;
  private int outstanding;
  private int arrived;
  private int immediate;

  /**
   * @param largest bytes of a message
   * @param depth operations outstanding at most, and receives posted
   */
  Side(Transport transport, int largest, int depth) throws IOException {
    this.transport = transport;
    this.depth = depth;
    this.half = largest;
    domain = transport.allocateProtectionDomain();
    queue = transport.createCompletionQueue(4 * depth);
    memory = domain.allocate(2 * largest, Access.REMOTE_ATOMIC);
    bytes = memory.buffer();
  }

  /** Listens, starts {@code main} as the other process, and waits until that is ready. */
  void startPeer(Class<?> main) throws IOException {
    // Listens for as long as the transport lives.
    Transport.Listener listener = transport.listen("", new Acceptor());
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(main.getName(), listener.endpoint()));
    peer = new ProcessBuilder(command).inheritIO().start();
    while (pair == null) {
      if (!peer.isAlive()) {
        throw new IOException("the other process ended with status " + peer.exitValue());
      }
      awaitImmediate();
      queue.await(SECOND_NS / 100);
    }
  }

  /** Connects to the process that started this one. */
  void connect(String endpoint) throws IOException {
    connected(transport.connect(endpoint, config(), memoryName(), CONNECT_NS));
    send(1, READY);
  }

  private QueuePairConfig config() {
    return new QueuePairConfig(domain, queue, queue, depth, depth);
  }

  private byte[] memoryName() {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(memory.address() + half)
        .putInt(memory.rkey())
        .array();
  }

  private void connected(QueuePair connected) {
    ByteBuffer name = ByteBuffer.wrap(connected.remotePrivateData()).order(ByteOrder.LITTLE_ENDIAN);
    peerAddress = name.getLong();
    peerKey = name.getInt();
    for (int i = 0; i < depth; i++) {
      connected.postReceive(i);
    }
    pair = connected;
  }

  @Override
  public void onCompletion(
      QueuePair from, long id, Opcode opcode, CompletionStatus status, int byteCount, int value) {
    if (status != CompletionStatus.SUCCESS) {
      ended = true;
    } else if (opcode == Opcode.RECEIVE_IMMEDIATE) {
      arrived++;
      immediate = value;
      from.postReceive(id);
    } else {
      outstanding--;
    }
  }

  /** Fails if the connection is over. */
  void checkConnected() {
    if (ended) {
      throw new IllegalStateException(pair.errorText());
    }
  }

  /** Operations whose completions have not been taken. */
  int outstanding() {
    return outstanding;
  }

  /** Posts a write of the first {@code length} bytes; its completion is reported. */
  void write(int length) {
    outstanding++;
    message.clear().add(memory, 0, length);
    pair.write(0, message, peerAddress, peerKey, QueuePair.SIGNALED);
    pair.ring();
  }

  /** Posts a read into the first {@code length} bytes; its completion is reported. */
  void read(int length) {
    outstanding++;
    message.clear().add(memory, 0, length);
    pair.read(0, message, peerAddress, peerKey, QueuePair.SIGNALED);
    pair.ring();
  }

  /** Posts a fetch-and-add; its completion is reported. */
  void fetchAndAdd() {
    outstanding++;
    message.clear().add(memory, 0, Long.BYTES);
    pair.fetchAndAdd(0, message, peerAddress, peerKey, 1, QueuePair.SIGNALED);
    pair.ring();
  }

  /** Posts a write of the first {@code length} bytes with an immediate. */
  void send(int length, int value) {
    message.clear().add(memory, 0, length);
    pair.writeWithImmediate(0, message, peerAddress, peerKey, value, 0);
    pair.ring();
  }

  /** Takes completions, without waiting. */
  void poll() {
    queue.poll(this, depth);
  }

  /** Waits up to a second for completions, asleep, and takes them. */
  void await() {
    queue.await(SECOND_NS);
    poll();
  }

  /** Waits for an immediate as {@link #await} does; returns it, or -1 at the connection's end. */
  int awaitImmediate() {
    poll();
    while (arrived == 0 && !ended) {
      await();
    }
    if (arrived == 0) {
      return -1;
    }
    arrived--;
    return immediate;
  }

  /** Sets the last 4 bytes of a message of {@code length} bytes. */
  void mark(int length, int value) {
    INT.setRelease(bytes, length - Integer.BYTES, value);
  }

  /** The last 4 bytes of a message of {@code length} bytes that the peer wrote. */
  int received(int length) {
    return (int) INT.getAcquire(bytes, half + length - Integer.BYTES);
  }

  /** Ends the connection, and waits for the process that was started to end by it. */
  @Override
  public void close() {
    if (pair != null) {
      pair.close();
    }
    transport.close();
    if (peer != null) {
      peer.onExit().join();
    }
  }

  private final class Acceptor implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) {
      return new Accept(config(), memoryName());
    }

    @Override
    public void onConnected(QueuePair queuePair, Accept accept) {
      connected(queuePair);
    }
  }
}
