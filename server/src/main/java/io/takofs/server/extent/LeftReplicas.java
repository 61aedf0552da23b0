package io.takofs.server.extent;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.proto.LeftReplica;
import io.takofs.proto.Replica;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Replicas that left their slabs: a record {@code T server arena index lease}, the {@link
 * LeftReplica} message, in the server's map until the server has taken the memory back. It names
 * the clients that may still write there, so that a leader that was started again can say it. Those
 * of a server that is LOST stay: its memory may come back, and with it who writes there.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class LeftReplicas {
  private static final byte PREFIX = 'T';

  private final OrderedMap map;
  private final Map<Integer, Map<Replica, LeftReplica>> left = new TreeMap<>(); // by server

  LeftReplicas(OrderedMap map) {
    this.map = map;
    map.scanPrefix(
        new byte[] {PREFIX},
        (key, value) -> {
          LeftReplica replica = decode(value);
          keep(replica);
          return true;
        });
  }

  private static LeftReplica decode(byte[] value) {
    try {
      return LeftReplica.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the record of a replica that left cannot be read", e);
    }
  }

  private void keep(LeftReplica replica) {
    left.computeIfAbsent(replica.getReplica().getServer(), server -> new LinkedHashMap<>())
        .put(replica.getReplica(), replica);
  }

  private LeftReplica forget(Replica replica) {
    Map<Replica, LeftReplica> there = left.getOrDefault(replica.getServer(), Map.of());
    LeftReplica former = there.isEmpty() ? null : there.remove(replica);
    if (former != null && there.isEmpty()) {
      left.remove(replica.getServer());
    }
    return former;
  }

  /** The servers that such replicas were at. */
  public Set<Integer> servers() {
    return new TreeSet<>(left.keySet()); // in an order that every JVM has
  }

  /** Those at {@code server}. */
  public Collection<LeftReplica> at(int server) {
    return Collections.unmodifiableCollection(left.getOrDefault(server, Map.of()).values());
  }

  /** All of them. */
  public List<LeftReplica> all() {
    return left.values().stream().flatMap(there -> there.values().stream()).toList();
  }

  /** Whether {@code replica} left a slab, and its server may not have taken it back. */
  public boolean contains(Replica replica) {
    return left.getOrDefault(replica.getServer(), Map.of()).containsKey(replica);
  }

  void add(Transaction tx, LeftReplica replica) {
    keep(replica);
    tx.undoWith(() -> forget(replica.getReplica()));
    tx.put(map, key(replica.getReplica()), replica.toByteArray());
  }

  void remove(Transaction tx, Replica replica) {
    LeftReplica former = forget(replica);
    if (former != null) {
      tx.undoWith(() -> keep(former));
      tx.remove(map, key(replica));
    }
  }

  private static byte[] key(Replica replica) {
    return new ByteWriter(21)
        .u8(PREFIX)
        .u32(replica.getServer())
        .u32(replica.getArena())
        .u32(replica.getIndex())
        .u64(replica.getLease())
        .toBytes();
  }
}
