package io.takofs.server.catalog.raft;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.proto.CatalogAnswer;
import io.takofs.proto.CatalogCall;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The calling side of one peer of the catalog. It connects with the first call; while the peer
 * cannot be reached calls fail at once, and an attempt to connect is made once in a while.
 *
 * <p>Thread rule: any thread; each waits for its own answer.
 */
final class PeerConnection implements AutoCloseable {
  private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final String address;
  private final Transport transport;
  private final ServerSecret secret;
  private final SecureRandom random;
  private final Clock clock;
  private final AtomicLong sequence = new AtomicLong();
  private Open open; // null when there is none
  private TakoException failure;
  private long failedNs;
  private boolean closed;

  /** A connection that stands. */
  private record Open(RpcClient client, CatalogSeal seal, AtomicLong number) {}

  /** The call was not sent, so that it has no effect. */
  static final class NotSentException extends TakoException {
    private static final long serialVersionUID = 1;

    NotSentException(TakoException why) {
      super(why.status(), why.getMessage(), why);
    }

    /** Whether the peer's host has no address. */
    boolean isOfUnknownHost() {
      return getCause().getCause() instanceof UnknownHostException;
    }
  }

  PeerConnection(
      String address, Transport transport, ServerSecret secret, SecureRandom random, Clock clock) {
    this.address = address;
    this.transport = transport;
    this.secret = secret;
    this.random = random;
    this.clock = clock;
  }

  /**
   * Asks.
   *
   * @throws NotSentException when the peer cannot be reached, or refuses this side's secret
   * @throws TakoException that the peer answered; DEADLINE_EXCEEDED or DISCONNECTED when the
   *     outcome is unknown
   */
  PeerAnswer ask(PeerCall call, long deadlineNs) throws TakoException {
    Open with = connected();
    try {
      long number = with.number.incrementAndGet();
      byte[] sealed = with.seal.sealCall(number, call.toByteArray());
      CatalogAnswer answer =
          exchange(
              with.client,
              CatalogCall.newBuilder().setNumber(number).setCall(ByteString.copyFrom(sealed)),
              deadlineNs);
      return PeerAnswer.parseFrom(with.seal.openAnswer(number, answer.getAnswer().toByteArray()));
    } catch (InvalidProtocolBufferException e) {
      throw malformed(e);
    } catch (TakoException e) {
      if (!with.client.isConnected()) {
        forget(with);
      }
      throw e;
    }
  }

  private synchronized Open connected() throws NotSentException {
    if (closed) {
      throw new NotSentException(new TakoException(Status.UNAVAILABLE, "the server stops"));
    }
    if (open != null && open.client.isConnected()) {
      return open;
    }
    disconnect();
    if (failure != null && clock.nanoTime() - failedNs < RETRY_NS) {
      throw new NotSentException(failure);
    }
    try {
      open = connect();
      failure = null;
      return open;
    } catch (IOException e) {
      failure = e instanceof TakoException known ? known : unavailable(e);
      failedNs = clock.nanoTime();
      throw new NotSentException(failure);
    }
  }

  private TakoException unavailable(IOException why) {
    String text = why.getMessage() == null ? why.toString() : why.getMessage();
    if (why instanceof UnknownHostException) {
      text =
          "host %s is unknown: correct %s, or the name service (DNS)"
              .formatted(ServerList.host(address), ConfigKeys.CLUSTER_SERVERS);
    }
    boolean named = text.contains(address);
    return new TakoException(Status.UNAVAILABLE, named ? text : address + ": " + text, why);
  }

  private Open connect() throws IOException {
    RpcTarget target =
        new RpcTarget(ConnectionKind.CATALOG, address, "the catalog's peer at " + address, 0);
    RpcClient client = RpcClient.connect(transport, target, CONNECT_NS, clock);
    boolean good = false;
    try {
      byte[] nonce = new byte[CatalogSeal.NONCE];
      random.nextBytes(nonce);
      if (!secret.isSet()) {
        nonce = new byte[0];
      }
      CatalogAnswer hello =
          exchange(
              client,
              CatalogCall.newBuilder().setNonce(ByteString.copyFrom(nonce)),
              clock.nanoTime() + CONNECT_NS);
      byte[] theirs = hello.getNonce().toByteArray();
      if (!CatalogSeal.isGood(secret, nonce, theirs, hello.getProof().toByteArray())) {
        throw new TakoException(
            Status.PERMISSION_DENIED,
            "the catalog's peer at "
                + address
                + " does not know this side's secret;"
                + " fs.tako.cluster.secret.file must be the same on all servers");
      }
      good = true;
      return new Open(client, CatalogSeal.of(secret, nonce, theirs), new AtomicLong());
    } finally {
      if (!good) {
        client.close();
      }
    }
  }

  private CatalogAnswer exchange(RpcClient client, CatalogCall.Builder call, long deadlineNs)
      throws TakoException {
    Request request = Request.newBuilder().setCatalogCall(call).build();
    Reply reply = client.call(0, sequence.incrementAndGet(), request, deadlineNs);
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply.getCatalogAnswer();
  }

  private TakoException malformed(InvalidProtocolBufferException e) {
    return new TakoException(
        Status.MALFORMED, "the catalog's peer at " + address + " sent no answer: " + e, e);
  }

  private synchronized void forget(Open gone) {
    if (gone.equals(open)) {
      disconnect();
    }
  }

  private void disconnect() {
    if (open != null) {
      open.client.close();
      open = null;
    }
  }

  /** Ends the connection; calls under way fail. */
  @Override
  public synchronized void close() {
    closed = true;
    disconnect();
  }
}
