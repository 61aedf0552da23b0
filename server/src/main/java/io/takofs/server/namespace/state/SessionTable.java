package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Sessions: records {@code S clientId} (user and client name with their lengths, time opened, how
 * long an attempt to connect takes) in the server's map, and the same in the heap.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class SessionTable {
  private final OrderedMap map;
  private final NavigableMap<Long, SessionInfo> sessions = new TreeMap<>();

  /** Reads the records in {@code map}. */
  SessionTable(OrderedMap map) {
    this.map = map;
    map.scanPrefix(
        new byte[] {Keys.SESSION},
        (key, value) -> {
          SessionInfo session = decode(Keys.id(key), value);
          sessions.put(session.clientId(), session);
          return true;
        });
  }

  /** The session of a client, or null. */
  public SessionInfo get(long clientId) {
    return sessions.get(clientId);
  }

  public List<SessionInfo> all() {
    return List.copyOf(sessions.values());
  }

  public void put(Transaction tx, SessionInfo session) {
    long id = session.clientId();
    tx.put(map, Keys.of(Keys.SESSION, id), encode(session));
    sessions.put(id, session);
    tx.undoWith(() -> sessions.remove(id));
  }

  public void remove(Transaction tx, SessionInfo session) {
    long id = session.clientId();
    tx.remove(map, Keys.of(Keys.SESSION, id));
    sessions.remove(id);
    tx.undoWith(() -> sessions.put(id, session));
  }

  private static byte[] encode(SessionInfo session) {
    return new ByteWriter(64)
        .sized(session.user().getBytes(UTF_8))
        .sized(session.clientName().getBytes(UTF_8))
        .signed(session.openedMs())
        .signed(session.connectTimeoutMs())
        .toBytes();
  }

  private static SessionInfo decode(long clientId, byte[] value) {
    ByteReader in = new ByteReader(value);
    return new SessionInfo(
        clientId,
        new String(in.sized(), UTF_8),
        new String(in.sized(), UTF_8),
        in.signed(),
        in.isAtEnd() ? 0 : in.signed()); // records of earlier versions end here
  }
}
