package io.takofs.server.loggroup;

import io.takofs.proto.Caller;
import io.takofs.rpc.RpcConnection;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The state of one session that is not in the log: its connections, and the time of its last call.
 * Lost at a restart, which counts as a sign of life.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class ClientState {
  public final long clientId;
  final Set<RpcConnection> connections = new LinkedHashSet<>();

  /** The user; null until a connection of this incarnation opened the session. */
  public Caller caller;

  /** When the groups of {@link #caller} were last seen to be the user's. */
  public long groupsKnownNs;

  /** When they were last asked for because they were not known any more. */
  long groupsAskedNs;

  public String clientName = "";
  public long lastHeardNs;

  /** The server on the client's host; 0 for none. */
  public int nearServer;

  /** Whether it writes through memory windows at other servers, and proves its grants there. */
  public boolean wantsProofs;

  /** When the last connection went. */
  long aloneSinceNs;

  /**
   * Extra time before the session expires: after a restart the client may be inside an attempt to
   * connect to the incarnation that is gone. Zero once it has connected.
   */
  long attemptNs;

  ClientState(long clientId, long nowNs) {
    this.clientId = clientId;
    this.lastHeardNs = nowNs;
    this.aloneSinceNs = nowNs;
  }
}
