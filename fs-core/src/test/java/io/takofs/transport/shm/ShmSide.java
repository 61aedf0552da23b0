package io.takofs.transport.shm;

import io.takofs.memory.MappedMemory;
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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A transport with one region and one queue; accepts everything and tells peers of its region. */
final class ShmSide implements ConnectionAcceptor, CompletionHandler, AutoCloseable {
  static final int DEPTH = 16;
  static final int REGION = 1 << 16;
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

  final ShmTransport transport;
  final ProtectionDomain domain;
  final CompletionQueue queue;
  final MemoryRegion region;
  final Queue<QueuePair> accepted = new ConcurrentLinkedQueue<>();
  final Queue<QueuePair> disconnected = new ConcurrentLinkedQueue<>();
  final List<CompletionStatus> sends = new ArrayList<>();
  final List<CompletionStatus> receives = new ArrayList<>();

  ShmSide(Path directory) throws IOException {
    this(directory, REGION);
  }

  ShmSide(Path directory, int regionBytes) throws IOException {
    transport = ShmTransport.create(directory);
    domain = transport.allocateProtectionDomain();
    queue = transport.createCompletionQueue(1024);
    region = domain.allocate(regionBytes, Access.REMOTE_ATOMIC);
  }

  /** Its region is {@code memory}, a file that outlives the process. */
  ShmSide(Path directory, MappedMemory memory) throws IOException {
    transport = ShmTransport.create(directory);
    domain = transport.allocateProtectionDomain();
    queue = transport.createCompletionQueue(1024);
    region = domain.register(memory, 0, (int) memory.length(), Access.REMOTE_ATOMIC);
  }

  QueuePairConfig config() {
    return new QueuePairConfig(domain, queue, queue, DEPTH, DEPTH);
  }

  /** The address and key that peers use. */
  byte[] regionName() {
    return ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey()).array();
  }

  static long addressOf(QueuePair pair) {
    return ByteBuffer.wrap(pair.remotePrivateData()).getLong(0);
  }

  static int rkeyOf(QueuePair pair) {
    return ByteBuffer.wrap(pair.remotePrivateData()).getInt(8);
  }

  QueuePair connect(String endpoint) throws IOException {
    return transport.connect(endpoint, config(), regionName(), TIMEOUT_NS);
  }

  /** Stages a signalled write of the first {@code length} bytes of both regions. */
  void write(QueuePair pair, int length) {
    ScatterGather local = new ScatterGather().add(region, 0, length);
    pair.write(1, local, addressOf(pair), rkeyOf(pair), QueuePair.SIGNALED);
  }

  /** Polls until {@code condition} holds, for a bounded time. */
  void pollUntil(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > TIMEOUT_NS) {
        throw new AssertionError("waited in vain for " + what);
      }
      if (queue.poll(this, 64) == 0) {
        queue.await(TimeUnit.MILLISECONDS.toNanos(1));
      }
    }
  }

  @Override
  public void onCompletion(
      QueuePair pair, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    (opcode == Opcode.RECEIVE_IMMEDIATE ? receives : sends).add(status);
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) {
    return new Accept(config(), regionName());
  }

  @Override
  public void onConnected(QueuePair pair, Accept accept) {
    for (int i = 0; i < DEPTH; i++) {
      pair.postReceive(i);
    }
    accepted.add(pair);
  }

  @Override
  public void onDisconnected(QueuePair pair) {
    disconnected.add(pair);
  }

  @Override
  public void close() {
    transport.close();
  }
}
