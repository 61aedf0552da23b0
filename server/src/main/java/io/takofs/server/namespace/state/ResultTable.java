package io.takofs.server.namespace.state;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.TakoException;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * Recorded replies, which make mutations exactly-once: the reply to each, {@code C clientId
 * sequence} in the server's map, until the client acknowledges it. A record is: what the client had
 * acknowledged by then, and the reply. As the newest record of a client outlives what it
 * acknowledges, the largest acknowledgement is always on record.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class ResultTable {
  /** Results one client may leave unacknowledged; its slots are far fewer. */
  private static final int UNACKNOWLEDGED_MAX = 256;

  /** Heap state of one client. */
  private static final class Client {
    final NavigableSet<Long> recorded = new TreeSet<>();
    long acknowledgedBelow;
  }

  private final OrderedMap map;
  private final Map<Long, Client> clients = new HashMap<>();

  /** Reads the records in {@code map}. */
  ResultTable(OrderedMap map) {
    this.map = map;
    map.scanPrefix(
        new byte[] {Keys.RESULT},
        (key, value) -> {
          Client client = client(Keys.id(key));
          client.recorded.add(Keys.second(key));
          client.acknowledgedBelow =
              Math.max(client.acknowledgedBelow, new RecordedResult(value).acknowledgedBelow);
          return true;
        });
  }

  /**
   * The reply recorded for a call, or null when it was not executed yet.
   *
   * @throws TakoException with status MALFORMED for a call that can not be answered: acknowledged
   *     before, or one too many
   */
  public Reply find(long clientId, long sequence, long acknowledgedBelow) throws TakoException {
    Client client = client(clientId);
    if (sequence < client.acknowledgedBelow) {
      throw malformed(
          "call %d of client %016x was acknowledged; nobody can wait for it any more",
          sequence, clientId);
    }
    if (acknowledgedBelow > sequence) {
      throw malformed("call %d of client %016x acknowledges itself", sequence, clientId);
    }
    if (client.recorded.contains(sequence)) {
      return new RecordedResult(map.get(Keys.of(Keys.RESULT, clientId, sequence))).reply();
    }
    if (client.recorded.size() >= UNACKNOWLEDGED_MAX
        && client.recorded.lower(acknowledgedBelow) == null) {
      throw malformed(
          "call %d of client %016x: too many results are unacknowledged", sequence, clientId);
    }
    return null;
  }

  /**
   * Records the reply to an entry's call, or replaces the one to a part of that call, and forgets
   * what the call acknowledges.
   *
   * @throws TakoException INTERNAL when the reply is too long to be kept; nothing has changed then
   */
  public void record(Context context, Reply reply) throws TakoException {
    Transaction tx = context.tx();
    long clientId = context.clientId();
    long sequence = context.entry().getSequence();
    long acknowledgedBelow = context.entry().getRequest().getAcknowledgedBelow();
    byte[] encoded = reply.toByteArray();
    byte[] value =
        new ByteWriter(encoded.length + 10).variable(acknowledgedBelow).raw(encoded).toBytes();
    if (value.length > OrderedMap.VALUE_MAX) {
      throw new TakoException(
          Status.INTERNAL,
          "the result of the call takes %d bytes, %d can be kept until it is acknowledged; ask for less at once"
              .formatted(value.length, OrderedMap.VALUE_MAX));
    }
    tx.put(map, Keys.of(Keys.RESULT, clientId, sequence), value);
    Client client = client(clientId);
    boolean isNew = client.recorded.add(sequence);
    List<Long> forgotten = new ArrayList<>(1);
    while (!client.recorded.isEmpty() && client.recorded.first() < acknowledgedBelow) {
      long old = client.recorded.pollFirst();
      forgotten.add(old);
      tx.remove(map, Keys.of(Keys.RESULT, clientId, old));
    }
    long before = client.acknowledgedBelow;
    client.acknowledgedBelow = Math.max(before, acknowledgedBelow);
    tx.undoWith(
        () -> {
          client.acknowledgedBelow = before;
          client.recorded.addAll(forgotten);
          if (isNew) {
            client.recorded.remove(sequence);
          }
        });
  }

  /** The client is gone. */
  public void forget(Transaction tx, long clientId) {
    Client client = clients.remove(clientId);
    if (client != null) {
      for (long sequence : client.recorded) {
        tx.remove(map, Keys.of(Keys.RESULT, clientId, sequence));
      }
      tx.undoWith(() -> clients.put(clientId, client));
    }
  }

  private Client client(long clientId) {
    return clients.computeIfAbsent(clientId, id -> new Client());
  }

  private static TakoException malformed(String format, long sequence, long clientId) {
    return new TakoException(Status.MALFORMED, format.formatted(sequence, clientId));
  }

  /** A record as it is read. */
  private static final class RecordedResult {
    final long acknowledgedBelow;
    private final byte[] reply;

    RecordedResult(byte[] value) {
      ByteReader in = new ByteReader(value);
      acknowledgedBelow = in.variable();
      reply = in.rest();
    }

    Reply reply() {
      try {
        return Reply.parseFrom(reply);
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException("a recorded reply does not parse", e);
      }
    }
  }
}
