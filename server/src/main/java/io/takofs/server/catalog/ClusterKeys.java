package io.takofs.server.catalog;

import com.google.protobuf.ByteString;
import io.takofs.proto.GrantProof;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.SessionTicket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * The cluster's keys, the current one and the one before it: servers alone have them, so a data
 * server can tell what a leader signed. What the former key signed is good until the next rotation.
 *
 * <p>Thread rule: immutable, any thread.
 */
public final class ClusterKeys {
  /** A server alone has no keys: it signs nothing, and all that is not signed is good. */
  public static final ClusterKeys NONE = new ClusterKeys(List.of());

  private static final int KEY_SIZE = 32;
  private static final int KEPT = 2;

  private final List<Key> keys; // the current one first

  private record Key(int number, byte[] secret) {}

  private ClusterKeys(List<Key> keys) {
    this.keys = List.copyOf(keys);
  }

  /**
   * Signs something that nobody sees. The first signature of a process loads the providers of
   * cryptography, which takes tens of milliseconds: better not while clients wait.
   */
  public static void rehearse() {
    Authenticator.of(new byte[KEY_SIZE], message(0, 0));
  }

  /** The keys with a new current one; what was current before is the former one. */
  public ClusterKeys rotate(SecureRandom random) {
    byte[] secret = new byte[KEY_SIZE];
    random.nextBytes(secret);
    List<Key> next = new ArrayList<>();
    next.add(new Key(current() + 1, secret));
    next.addAll(keys.subList(0, Math.min(keys.size(), KEPT - 1)));
    return new ClusterKeys(next);
  }

  /** Number of the current key; 0 when there is none. */
  public int current() {
    return keys.isEmpty() ? 0 : keys.get(0).number;
  }

  byte[] encode() {
    ByteBuffer bytes = ByteBuffer.allocate(keys.size() * (Integer.BYTES + KEY_SIZE));
    keys.forEach(key -> bytes.putInt(key.number).put(key.secret));
    return bytes.array();
  }

  /**
   * The keys that {@link #encode} wrote.
   *
   * @throws IOException when it is something else
   */
  static ClusterKeys decode(byte[] encoded) throws IOException {
    if (encoded.length % (Integer.BYTES + KEY_SIZE) != 0) {
      throw new IOException("keys of " + encoded.length + " bytes");
    }
    List<Key> keys = new ArrayList<>();
    ByteBuffer bytes = ByteBuffer.wrap(encoded);
    while (bytes.hasRemaining()) {
      int number = bytes.getInt();
      byte[] secret = new byte[KEY_SIZE];
      bytes.get(secret);
      keys.add(new Key(number, secret));
    }
    return new ClusterKeys(keys);
  }

  /** The ticket by which a data server knows a client of {@code group}. */
  public SessionTicket ticket(long clientId, int group) {
    SessionTicket.Builder ticket = SessionTicket.newBuilder().setGroup(group).setKey(current());
    if (!keys.isEmpty()) {
      byte[] signed = Authenticator.of(keys.get(0).secret, message(clientId, group));
      ticket.setAuthenticator(ByteString.copyFrom(signed));
    }
    return ticket.build();
  }

  /** Whether a leader of this cluster gave {@code ticket} to the client. */
  public boolean isGood(SessionTicket ticket, long clientId) {
    byte[] message = message(clientId, ticket.getGroup());
    return isGood(ticket.getKey(), message, ticket.getAuthenticator());
  }

  /**
   * The proof by which {@code server} knows that a client may write.
   *
   * @param window of the client's live grant there; its own proof is not looked at
   */
  public GrantProof proof(OpenWindows.Window window, long clientId, int server) {
    GrantProof.Builder proof = GrantProof.newBuilder().setServer(server).setKey(current());
    if (!keys.isEmpty()) {
      byte[] signed = Authenticator.of(keys.get(0).secret, message(window, clientId, server));
      proof.setAuthenticator(ByteString.copyFrom(signed));
    }
    return proof.build();
  }

  /** Whether a leader of this cluster gave the proof in {@code window} to the client. */
  public boolean isGood(OpenWindows.Window window, long clientId, int server) {
    byte[] message = message(window, clientId, server);
    return isGood(window.getKey(), message, window.getAuthenticator());
  }

  private boolean isGood(int number, byte[] message, ByteString authenticator) {
    for (Key key : keys) {
      if (key.number == number) {
        return Authenticator.isGood(key.secret, message, authenticator.toByteArray());
      }
    }
    return keys.isEmpty();
  }

  private static byte[] message(long clientId, int group) {
    return Authenticator.message(Long.BYTES + Integer.BYTES)
        .putLong(clientId)
        .putInt(group)
        .array();
  }

  /** Of another length than that for a ticket, so that neither is good for the other. */
  private static byte[] message(OpenWindows.Window window, long clientId, int server) {
    return Authenticator.message(3 * Long.BYTES + 4 * Integer.BYTES)
        .putLong(clientId)
        .putInt(server)
        .putInt(window.getArena())
        .putInt(window.getOffset())
        .putInt(window.getCapacity())
        .putLong(window.getGrant())
        .putLong(window.getLease())
        .array();
  }
}
