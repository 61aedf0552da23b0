package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Arenas;
import io.takofs.proto.GetArenas;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client over verbs that keeps to no rule: it speaks the protocol and writes wherever it likes.
 *
 * <p>Thread rule: one thread.
 */
final class RawClient implements AutoCloseable {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int LOCAL_BYTES = 4096;

  private final VerbsTransport transport;
  private final ProtectionDomain domain;
  private final MemoryRegion local;
  private final MemoryRegion word;
  private final String endpoint;
  private final RpcClient rpc;
  private final SessionTerms session;
  private long sequence;
  private CompletionQueue completions;
  private QueuePair data;

  RawClient(URI server) throws Exception {
    transport = VerbsTransport.create(Optional.empty());
    domain = transport.allocateProtectionDomain();
    local = domain.allocate(LOCAL_BYTES, Access.LOCAL);
    word = domain.allocate(Long.BYTES, Access.REMOTE_READ);
    endpoint = verbsEndpoint(server);
    rpc =
        RpcClient.connect(
            transport,
            new RpcTarget(ConnectionKind.RPC, endpoint, "the server", 0),
            TIMEOUT_NS,
            Clock.SYSTEM);
    Request open =
        Request.newBuilder()
            .setOpenSession(
                OpenSessionRequest.newBuilder()
                    .setProtocolVersion(Layout.PROTOCOL_VERSION)
                    .setLayoutHash(Layout.LAYOUT_HASH)
                    .setUser(System.getProperty("user.name"))
                    .setClientName("raw"))
            .build();
    Reply reply = rpc.call(0, ++sequence, open, deadline());
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    session = reply.getSession();
  }

  private static String verbsEndpoint(URI server) throws IOException {
    try (TcpTransport tcp = new TcpTransport(TcpSettings.DEFAULT)) {
      return tcp.discover(server.getHost() + ":" + server.getPort(), TIMEOUT_NS).stream()
          .filter(offer -> offer.transport().equals("verbs"))
          .map(OfferedTransport::endpoint)
          .findFirst()
          .orElseThrow();
    }
  }

  private static long deadline() {
    return System.nanoTime() + TIMEOUT_NS;
  }

  /** Calls; the reply must be a success. */
  Reply call(Request.Builder request) throws Exception {
    long number = ++sequence;
    request.setAcknowledgedBelow(number);
    Reply reply = rpc.call(session.getClientId(), number, request.build(), deadline());
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply;
  }

  /** Sends the last call again, which was answered; whatever its reply says. */
  Reply callAgain(Request.Builder request) throws Exception {
    return rpc.call(session.getClientId(), sequence, request.build(), deadline());
  }

  /** A connection's knowledge of its request slots in the server's memory. */
  ConnectionInfo messageSlots() throws Exception {
    MemoryRegion replies =
        domain.allocate(Layout.RPC_SLOTS * Layout.RPC_REPLY_SLOT_SIZE, Access.REMOTE_READ_WRITE);
    CompletionQueue queue = transport.createCompletionQueue(128);
    QueuePair pair =
        transport.connect(
            endpoint,
            new QueuePairConfig(domain, queue, queue, 4, Layout.RPC_SLOTS),
            ConnectionInfo.ours(Layout.CONNECTION_RPC, 0, 0, replies.address(), replies.rkey())
                .pack(),
            TIMEOUT_NS);
    return ConnectionInfo.unpack(pair.remotePrivateData(), "the server");
  }

  /**
   * Makes the connection to the data zone, anew after each refusal, and says where the arenas are.
   */
  Arenas connectData() throws Exception {
    closeData();
    completions = transport.createCompletionQueue(16);
    Poll.until(
        "the server has room for a connection", Duration.ofNanos(TIMEOUT_NS), this::tryConnectData);
    Request where = Request.newBuilder().setGetArenas(GetArenas.getDefaultInstance()).build();
    return rpc.call(session.getClientId(), sequence, where, deadline()).getArenas();
  }

  /** Connects; false when the server wants that to be tried again. */
  private boolean tryConnectData() throws IOException {
    try {
      data = connect();
      return true;
    } catch (TakoException e) {
      if (e.status() == Status.BUSY) {
        return false;
      }
      throw e;
    }
  }

  private QueuePair connect() throws IOException {
    return transport.connect(
        endpoint,
        new QueuePairConfig(domain, completions, completions, 16, 0),
        ConnectionInfo.ours(
                Layout.CONNECTION_DATA,
                session.getClientId(),
                session.getEpoch(),
                word.address(),
                word.rkey())
            .pack(),
        TIMEOUT_NS);
  }

  /** Writes {@code length} bytes of 0x5a to the server's memory; returns how that ended. */
  CompletionStatus write(long address, int length, int rkey) {
    for (int i = 0; i < length; i++) {
      local.buffer().put(i, (byte) 0x5a);
    }
    data.write(1, new ScatterGather().add(local, 0, length), address, rkey, QueuePair.SIGNALED);
    data.ring();
    AtomicReference<CompletionStatus> ended = new AtomicReference<>();
    long deadline = deadline();
    while (ended.get() == null) {
      assertThat(System.nanoTime()).as("the write ends").isLessThan(deadline);
      completions.await(TimeUnit.MILLISECONDS.toNanos(100));
      completions.poll((pair, id, opcode, status, count, immediate) -> ended.set(status), 1);
    }
    return ended.get();
  }

  private void closeData() {
    if (data != null) {
      data.close();
      completions.close();
    }
  }

  @Override
  public void close() {
    closeData();
    rpc.close();
    transport.close();
  }
}
