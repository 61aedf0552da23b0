package io.takofs.server.loggroup;

import io.takofs.proto.Caller;
import io.takofs.rpc.RpcConnection;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * What the server knows of one session beyond what the log says: who is connected, and when it was
 * last heard of. Lost at a restart, which counts as a sign of life.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class ClientState {
  public final long clientId;
  final Set<RpcConnection> connections = new LinkedHashSet<>();

  /** Who calls; null until a connection of this incarnation opened the session. */
  public Caller caller;

  /** When the groups of {@link #caller} were last seen to be the user's. */
  public long groupsKnownNs;

  public String clientName = "";
  public long lastHeardNs;

  /** When the last connection went. */
  long aloneSinceNs;

  /**
   * What the session is given beside its life: after a restart the client may be inside an attempt
   * to connect to the incarnation that is gone. Zero once it has connected.
   */
  long attemptNs;

  ClientState(long clientId, long nowNs) {
    this.clientId = clientId;
    this.lastHeardNs = nowNs;
    this.aloneSinceNs = nowNs;
  }
}
