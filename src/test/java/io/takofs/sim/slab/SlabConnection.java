package io.takofs.sim.slab;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Arenas;
import io.takofs.proto.GetArenas;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTicket;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimRegion;
import io.takofs.sim.SimTransport;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A client's control connection and data connection to one server. */
final class SlabConnection {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int SENDS = 32;

  private final RpcClient control;
  private final QueuePair data;
  private final CompletionQueue completions;
  private final MemoryRegion memory;
  private final Arenas arenas;
  private int underWay;
  private boolean failed;

  private SlabConnection(
      RpcClient control,
      QueuePair data,
      CompletionQueue completions,
      MemoryRegion memory,
      Arenas arenas) {
    this.control = control;
    this.data = data;
    this.completions = completions;
    this.memory = memory;
    this.arenas = arenas;
  }

  static SlabConnection open(
      SimTransport transport, MemoryRegion memory, SimDataServer server, long client, Clock clock)
      throws IOException {
    String endpoint = server.endpoint();
    RpcTarget target = new RpcTarget(ConnectionKind.CONTROL, endpoint, endpoint, client);
    RpcClient control = RpcClient.connect(transport, target, TIMEOUT_NS, clock);
    QueuePair pair = null;
    try {
      call(
          control,
          clock,
          Request.newBuilder()
              .setOpenDataSession(
                  OpenDataSession.newBuilder()
                      .setProtocolVersion(Layout.PROTOCOL_VERSION)
                      .setLayoutHash(Layout.LAYOUT_HASH)
                      .setClientId(client)
                      .setTicket(SessionTicket.getDefaultInstance())
                      .setServer(server.id())));
      CompletionQueue completions = transport.createCompletionQueue(SENDS);
      pair =
          transport.connect(
              endpoint,
              new QueuePairConfig(
                  ((SimRegion) memory).domain(), completions, completions, SENDS, 0),
              ConnectionInfo.ours(Layout.CONNECTION_DATA, client, 0, 0, 0).pack(),
              TIMEOUT_NS);
      Reply reply =
          call(control, clock, Request.newBuilder().setGetArenas(GetArenas.getDefaultInstance()));
      SlabConnection open =
          new SlabConnection(control, pair, completions, memory, reply.getArenas());
      pair = null;
      control = null;
      return open;
    } finally {
      if (pair != null) {
        pair.close();
      }
      if (control != null) {
        control.close();
      }
    }
  }

  private static Reply call(RpcClient control, Clock clock, Request.Builder request)
      throws TakoException {
    Reply reply = control.call(0, 0, request.build(), clock.nanoTime() + TIMEOUT_NS);
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply;
  }

  boolean isOpen() {
    return !failed && data.state() == QueuePair.State.CONNECTED;
  }

  /** Sends bytes of the client's memory to a place of an arena. */
  void write(int from, int length, int arena, int offset) throws IOException {
    check();
    if (data.sendSlotsFree() == 0) {
      throw new IOException("too much is under way");
    }
    RemoteArena at = arenas.getArenas(arena);
    underWay++;
    data.write(
        underWay,
        new ScatterGather().add(memory, from, length),
        at.getAddress() + offset,
        at.getRkey(),
        QueuePair.SIGNALED);
    data.ring();
  }

  /** Throws when the connection is over. */
  void check() throws IOException {
    if (!isOpen()) {
      throw new IOException("the connection is over");
    }
  }

  /** Whether all that was sent is there. */
  boolean isDone() throws IOException {
    completions.poll(
        (pair, id, opcode, status, byteCount, immediate) -> {
          underWay--;
          failed |= status != CompletionStatus.SUCCESS;
        },
        SENDS);
    if (!isOpen() && underWay >= 0 && failed) {
      throw new IOException("the server failed the writer");
    }
    return underWay == 0;
  }

  void close() {
    data.close();
    control.close();
  }
}
