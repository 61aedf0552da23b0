package io.takofs.transport.tcp;

import io.takofs.transport.Access;
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
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A listener that answers every immediate with the next number, from its event loop. */
final class EchoingServer implements ConnectionAcceptor, AutoCloseable {
  static final int MAX_SENDS = 16;

  final TcpTransport transport;
  final ProtectionDomain domain;
  final MemoryRegion open;
  final MemoryRegion secret;
  final Set<QueuePair> connected = ConcurrentHashMap.newKeySet();
  private final CompletionQueue queue;
  private final Transport.Listener listener;

  EchoingServer(TcpSettings settings) throws IOException {
    transport = new TcpTransport(settings);
    domain = transport.allocateProtectionDomain();
    open = domain.allocate(65536, Access.REMOTE_READ_WRITE);
    secret = domain.allocate(65536, Access.LOCAL);
    queue = transport.createCompletionQueue(1024);
    queue.onEvent(() -> queue.poll(this::onCompletion, Integer.MAX_VALUE));
    listener = transport.listen("127.0.0.1:0", this);
  }

  private void onCompletion(
      QueuePair pair,
      long id,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    if (opcode == Opcode.RECEIVE_IMMEDIATE && status == CompletionStatus.SUCCESS) {
      pair.postReceive(id);
      if (pair.sendSlotsFree() > 0) {
        pair.writeWithImmediate(id, new ScatterGather(), 0, 0, immediate + 1, QueuePair.SIGNALED);
        pair.ring();
      }
    }
  }

  /** Attempts to accept that have failed since one succeeded. */
  int failedAccepts() {
    return ((TcpTransport.Listener) listener).failures();
  }

  String endpoint() {
    return listener.endpoint();
  }

  int port() {
    return Integer.parseInt(endpoint().substring(endpoint().lastIndexOf(':') + 1));
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) {
    byte[] where = ByteBuffer.allocate(12).putLong(open.address()).putInt(open.rkey()).array();
    return new Accept(new QueuePairConfig(domain, queue, queue, MAX_SENDS, 16), where);
  }

  @Override
  public void onConnected(QueuePair queuePair, Accept accept) {
    for (int i = 0; i < 16; i++) {
      queuePair.postReceive(i);
    }
    connected.add(queuePair);
  }

  @Override
  public void onDisconnected(QueuePair queuePair) {
    connected.remove(queuePair);
  }

  @Override
  public void close() {
    transport.close();
  }
}
