package io.takofs.rpc;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;

/**
 * A request that waits for its reply.
 *
 * <p>Thread rule: any thread.
 */
public final class IncomingCall {
  private final RpcConnection connection;
  private final int slot;
  private final long clientId;
  private final long sequence;
  private final Request request;
  private final int size;

  IncomingCall(
      RpcConnection connection, int slot, long clientId, long sequence, Request request, int size) {
    this.connection = connection;
    this.slot = slot;
    this.clientId = clientId;
    this.sequence = sequence;
    this.request = request;
    this.size = size;
  }

  /** The connection that the call came from. */
  public RpcConnection connection() {
    return connection;
  }

  /** The session that calls, as the client says; 0 before there is one. */
  public long clientId() {
    return clientId;
  }

  /** Number of the call within the session, as the client says. */
  public long sequence() {
    return sequence;
  }

  public Request request() {
    return request;
  }

  /** Bytes that came, header included. */
  public int size() {
    return size;
  }

  /** Answers; does nothing when the connection is gone. */
  public void reply(Reply reply) {
    connection.reply(slot, clientId, sequence, reply);
  }
}
