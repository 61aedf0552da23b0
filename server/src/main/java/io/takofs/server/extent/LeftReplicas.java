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
import java.util.Map;

/**
 * Replicas that left their slabs: a record {@code T server arena index lease}, the {@link
 * LeftReplica} message, in the server's map until the server has taken the memory back. It names
 * the clients that may still write there, so that a leader that was started again can say it.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class LeftReplicas {
  private static final byte PREFIX = 'T';

  private final OrderedMap map;
  private final Map<Replica, LeftReplica> left = new LinkedHashMap<>();

  LeftReplicas(OrderedMap map) {
    this.map = map;
    map.scanPrefix(
        new byte[] {PREFIX},
        (key, value) -> {
          LeftReplica replica = decode(value);
          left.put(replica.getReplica(), replica);
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

  /** All of them. */
  public Collection<LeftReplica> all() {
    return Collections.unmodifiableCollection(left.values());
  }

  /** Whether {@code replica} left a slab, and its server may not have taken it back. */
  public boolean contains(Replica replica) {
    return left.containsKey(replica);
  }

  void add(Transaction tx, LeftReplica replica) {
    left.put(replica.getReplica(), replica);
    tx.undoWith(() -> left.remove(replica.getReplica()));
    tx.put(map, key(replica.getReplica()), replica.toByteArray());
  }

  void remove(Transaction tx, Replica replica) {
    LeftReplica former = left.remove(replica);
    if (former != null) {
      tx.undoWith(() -> left.put(replica, former));
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
