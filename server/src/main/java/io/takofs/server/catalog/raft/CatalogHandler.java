package io.takofs.server.catalog.raft;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.TakoException;
import io.takofs.proto.CatalogAnswer;
import io.takofs.proto.CatalogCall;
import io.takofs.proto.PeerCall;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.catalog.ServerSecret;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers calls to a peer of the catalog, from those who know the cluster's secret. A call may wait
 * for a disk and for other peers, so each has a thread while it lasts.
 *
 * <p>Thread rule: any thread.
 */
public final class CatalogHandler implements RpcHandler, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogHandler.class);

  /** Calls that are answered at a time; more are refused. */
  private static final int THREADS_MAX = 32;

  private static final long KEPT_S = 30;

  /** A change or a question may take so long. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  private final CatalogPeer peer;
  private final ServerSecret secret;
  private final SecureRandom random;
  private final ThreadPoolExecutor threads;
  private final Map<RpcConnection, CatalogSeal> callers = new ConcurrentHashMap<>();

  /**
   * @param peer which stays its owner's
   */
  public CatalogHandler(CatalogPeer peer, ServerSecret secret, SecureRandom random) {
    this.peer = peer;
    this.secret = secret;
    this.random = random;
    this.threads =
        new ThreadPoolExecutor(
            0, THREADS_MAX, KEPT_S, TimeUnit.SECONDS, new SynchronousQueue<>(), this::thread);
  }

  private Thread thread(Runnable work) {
    Thread thread = new Thread(work, "tako-catalog");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void onCalls(List<IncomingCall> calls) {
    for (IncomingCall call : calls) {
      try {
        threads.execute(() -> call.reply(answer(call)));
      } catch (RejectedExecutionException e) {
        call.reply(refused(Status.UNAVAILABLE, "the catalog's peer has too many calls, or stops"));
      }
    }
  }

  private Reply answer(IncomingCall call) {
    try {
      if (!call.request().hasCatalogCall()) {
        throw new TakoException(
            Status.UNSUPPORTED,
            call.request().getOperationCase() + " is no call to a peer of the catalog");
      }
      CatalogCall asked = call.request().getCatalogCall();
      CatalogAnswer answer =
          asked.getNumber() == 0
              ? greet(call.connection(), asked)
              : execute(call.connection(), asked);
      return Reply.newBuilder().setCatalogAnswer(answer).build();
    } catch (TakoException e) {
      return refused(e.status(), e.getMessage());
    } catch (InvalidProtocolBufferException e) {
      return refused(Status.MALFORMED, "no call to the catalog: " + e);
    } catch (RuntimeException e) {
      LOG.error("a call of {} to the catalog failed", call.connection().remoteName(), e);
      return refused(Status.INTERNAL, "the catalog's peer failed: " + e);
    }
  }

  private static Reply refused(Status status, String message) {
    return Reply.newBuilder().setStatus(status).setMessage(message).build();
  }

  private CatalogAnswer greet(RpcConnection connection, CatalogCall hello) throws TakoException {
    byte[] theirs = hello.getNonce().toByteArray();
    if (secret.isSet() && theirs.length != CatalogSeal.NONCE) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          connection.remoteName()
              + " has no secret and this server has one;"
              + " fs.tako.cluster.secret.file must be the same on all servers");
    }
    byte[] ours = new byte[CatalogSeal.NONCE];
    random.nextBytes(ours);
    callers.put(connection, CatalogSeal.of(secret, theirs, ours));
    return CatalogAnswer.newBuilder()
        .setNonce(ByteString.copyFrom(ours))
        .setProof(ByteString.copyFrom(CatalogSeal.proof(secret, theirs, ours)))
        .build();
  }

  private CatalogAnswer execute(RpcConnection connection, CatalogCall sealed)
      throws TakoException, InvalidProtocolBufferException {
    CatalogSeal seal = callers.get(connection);
    if (seal == null) {
      throw new TakoException(
          Status.SESSION_EXPIRED, "the first call to the catalog's peer has a nonce");
    }
    long number = sealed.getNumber();
    PeerCall call = PeerCall.parseFrom(seal.openCall(number, sealed.getCall().toByteArray()));
    byte[] answer = peer.answer(call, LIMIT_NS).toByteArray();
    return CatalogAnswer.newBuilder()
        .setAnswer(ByteString.copyFrom(seal.sealAnswer(number, answer)))
        .build();
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    callers.remove(connection);
  }

  /** Answers nothing any more. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
