package io.takofs.server.catalog.raft;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.transport.Transport;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Connections to the peers of the catalog, one for each address.
 *
 * <p>Thread rule: any thread.
 */
public final class PeerConnections implements AutoCloseable {
  private final Transport transport;
  private final ServerSecret secret;
  private final SecureRandom random;
  private final Clock clock;
  private final Map<String, LocalPeer> locals = new ConcurrentHashMap<>();
  private final Map<String, PeerConnection> connections = new ConcurrentHashMap<>();

  /**
   * @param transport over which to connect; it outlives this
   * @param secret by which both sides prove who they are
   */
  public PeerConnections(
      Transport transport, ServerSecret secret, SecureRandom random, Clock clock) {
    this.transport = transport;
    this.secret = secret;
    this.random = random;
    this.clock = clock;
  }

  /** A peer in this process, which is asked without a connection. */
  @FunctionalInterface
  interface LocalPeer {
    /** The answer to {@code call}, on the thread that asks, within {@code limitNs}. */
    PeerAnswer answer(PeerCall call, long limitNs) throws TakoException;
  }

  /** Lets the peer at {@code address} be {@code local} from now on. */
  void setLocal(String address, LocalPeer local) {
    locals.put(address, local);
  }

  /** Whether the peer at {@code address} is in this process, and so asks for no secret. */
  boolean isLocal(String address) {
    return locals.containsKey(address);
  }

  /** As {@link PeerConnection#ask}, within {@code limitNs}. */
  PeerAnswer ask(String address, PeerCall call, long limitNs) throws TakoException {
    LocalPeer local = locals.get(address);
    if (local != null) {
      return local.answer(call, limitNs);
    }
    return connections
        .computeIfAbsent(address, to -> new PeerConnection(to, transport, secret, random, clock))
        .ask(call, clock.nanoTime() + limitNs);
  }

  @Override
  public void close() {
    connections.values().forEach(PeerConnection::close);
  }
}
