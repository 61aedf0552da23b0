package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.namespace.state.State;
import java.util.concurrent.TimeUnit;

/** Sessions begin, resume and end. */
public final class SessionOperation {
  /** The most that a client's configuration allows ({@code fs.tako.client.connect.timeout}). */
  private static final long CONNECT_TIMEOUT_MAX_MS = TimeUnit.MINUTES.toMillis(10);

  private SessionOperation() {}

  /** The server adds to the reply what only it knows: its incarnation, and how long leases last. */
  public static Reply open(Context context, OpenSessionRequest request) throws TakoException {
    State state = context.state();
    check(request);
    long clientId = context.clientId();
    if (clientId == 0) {
      clientId = newClientId(context);
      state.sessions.put(
          context.tx(),
          new SessionInfo(
              clientId,
              request.getUser(),
              request.getClientName(),
              context.timeMs(),
              connectTimeoutMs(request)));
    } else {
      SessionInfo session = require(state, clientId);
      if (!session.user().equals(request.getUser())) {
        throw new TakoException(
            Status.PERMISSION_DENIED,
            "session %016x is not of user %s".formatted(clientId, request.getUser()));
      }
    }
    Limits limits = state.limits();
    return Reply.newBuilder()
        .setSession(
            SessionTerms.newBuilder()
                .setClientId(clientId)
                .setReplication(limits.defaultReplication())
                .setInlineMax(limits.inlineMax()))
        .build();
  }

  /**
   * Checks what a client says of itself, when a session begins and when it is resumed.
   *
   * @throws TakoException INVALID_ARGUMENT
   */
  public static void check(OpenSessionRequest request) throws TakoException {
    Attributes.checkPrincipal(request.getUser(), "user");
    int length = request.getClientName().getBytes(UTF_8).length;
    if (length > Layout.CLIENT_NAME_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the client calls itself by a name of %d bytes; %d is the most: give it a shorter one"
              .formatted(length, Layout.CLIENT_NAME_MAX));
    }
  }

  /** Bounded, so that nobody's leases outlive a restart for long. */
  private static long connectTimeoutMs(OpenSessionRequest request) {
    return Math.max(0, Math.min(request.getConnectTimeoutMs(), CONNECT_TIMEOUT_MAX_MS));
  }

  /**
   * The client ends it, or the server does for a client that is gone. One with very many open files
   * takes more than one entry; it is there until the last.
   */
  public static Reply end(Context context, long clientId) {
    State state = context.state();
    SessionInfo session = state.sessions.get(clientId);
    if (session != null && Recovery.closeSome(context, clientId)) {
      state.results.forget(context.tx(), clientId);
      state.sessions.remove(context.tx(), session);
    }
    return Replies.done();
  }

  public static SessionInfo require(State state, long clientId) throws TakoException {
    SessionInfo session = state.sessions.get(clientId);
    if (session == null) {
      throw new TakoException(
          Status.SESSION_EXPIRED,
          "the server knows no session %016x; open a new one".formatted(clientId));
    }
    return session;
  }

  /**
   * An id that no client of another pool or of an earlier format of this one is likely to hold,
   * made of nothing but the entry.
   */
  private static long newClientId(Context context) {
    long id = Ids.mix(context.timeMs() ^ Long.rotateLeft(context.index(), 40));
    while (Ids.isReserved(id) || context.state().sessions.get(id) != null) {
      id = Ids.mix(id + 1);
    }
    return id;
  }
}
