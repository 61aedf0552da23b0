package io.takofs.rpc;

import io.takofs.layout.Layout;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A client that sends whatever bytes it likes. */
final class RawPeer implements AutoCloseable {
  private final ProtectionDomain domain;
  private final CompletionQueue completions;
  private final MemoryRegion memory;
  private final MemoryRegion replies;
  private final QueuePair pair;
  final ConnectionInfo server;
  private int answered;

  RawPeer(Transport transport, String endpoint) throws IOException {
    domain = transport.allocateProtectionDomain();
    completions = transport.createCompletionQueue(512);
    memory = domain.allocate(Layout.RPC_REPLY_SLOT_SIZE, Access.LOCAL);
    replies =
        domain.allocate(Layout.RPC_SLOTS * Layout.RPC_REPLY_SLOT_SIZE, Access.REMOTE_READ_WRITE);
    pair =
        transport.connect(
            endpoint,
            new QueuePairConfig(domain, completions, completions, 256, Layout.RPC_SLOTS),
            ConnectionInfo.ours(Layout.CONNECTION_RPC, 0, 0, replies.address(), replies.rkey())
                .pack(),
            RpcTests.LONG_NS);
    for (int i = 0; i < Layout.RPC_SLOTS; i++) {
      pair.postReceive(i);
    }
    server = ConnectionInfo.unpack(pair.remotePrivateData(), "server");
  }

  /** Target address of the next message. */
  ByteBuffer message() {
    return memory.buffer();
  }

  /** Sends the first {@code length} bytes of the message. */
  void send(long address, int rkey, int length, int immediate) {
    pair.writeWithImmediate(
        0,
        new ScatterGather().add(memory, 0, length),
        address,
        rkey,
        immediate,
        QueuePair.SIGNALED);
    pair.ring();
  }

  long slotAddress(int slot) {
    return server.address() + (long) slot * Layout.RPC_REQUEST_SLOT_SIZE;
  }

  /** Replies so far. */
  int answered() {
    completions.poll(
        (queuePair, id, opcode, status, bytes, immediate) -> {
          if (status == CompletionStatus.SUCCESS && opcode == Opcode.RECEIVE_IMMEDIATE) {
            answered++;
            pair.postReceive(id);
          }
        },
        64);
    return answered;
  }

  boolean isConnected() {
    return pair.state() == QueuePair.State.CONNECTED;
  }

  @Override
  public void close() {
    pair.close();
    completions.close();
    memory.close();
    replies.close();
    domain.close();
  }
}
