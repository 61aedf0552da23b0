package io.takofs.server.extent;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The slabs of the group: a record {@code B slabId}, the {@link Slab} message, in the server's map,
 * and the same in the heap.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class GroupSlabs {
  private static final byte PREFIX = 'B';

  /** A range of a server's arena, under any lease. */
  private record Held(int server, int arena, int index) {
    static Held of(Replica replica) {
      return new Held(replica.getServer(), replica.getArena(), replica.getIndex());
    }
  }

  private final OrderedMap map;
  private final ExtentAllocator allocator;
  private final NavigableMap<Long, Slab> slabs = new TreeMap<>();
  private final Map<Held, Long> byPlace = new HashMap<>();
  private final NavigableMap<Integer, Integer> replicas = new TreeMap<>(); // by server

  /** Reads the records in {@code map}, and tells {@code allocator} of the slabs. */
  GroupSlabs(OrderedMap map, ExtentAllocator allocator) {
    this.map = map;
    this.allocator = allocator;
    map.scanPrefix(
        new byte[] {PREFIX},
        (key, value) -> {
          add(decode(value));
          return true;
        });
  }

  private static Slab decode(byte[] value) {
    try {
      return Slab.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the record of a slab cannot be read", e);
    }
  }

  /** The slab {@code id}, or null. */
  public Slab get(long id) {
    return slabs.get(id);
  }

  /** All, in order of id. */
  public Collection<Slab> all() {
    return Collections.unmodifiableCollection(slabs.values());
  }

  /** Up to {@code limit} slabs with ids above {@code id}, in order of id. */
  public List<Slab> after(long id, int limit) {
    return slabs.tailMap(id, false).values().stream().limit(limit).toList();
  }

  /** The highest id of a slab; 0 when there is none. */
  public long lastId() {
    return slabs.isEmpty() ? 0 : slabs.lastKey();
  }

  public int size() {
    return slabs.size();
  }

  /** Whether extents may be granted in a slab, and those granted be written. */
  public boolean isOpen(long id) {
    Slab slab = slabs.get(id);
    return slab != null && !slab.getClosed();
  }

  /** Whether nothing in a slab is granted, committed or in quarantine. */
  public boolean isWhollyFree(long id) {
    return allocator.isWhollyFree(id);
  }

  /** Bytes that can be granted in a slab. */
  public long freeBytesOf(long id) {
    return allocator.freeBytesOf(id);
  }

  /** Bytes of a slab that are handed out; 0 when there is no such slab. */
  public long usedBytesOf(long id) {
    Slab slab = slabs.get(id);
    return slab == null
        ? 0
        : (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE
            - allocator.freeBytesOf(id);
  }

  /** Bytes of the replicas at {@code server} that are not handed out. */
  public long freeBytesAt(int server) {
    return allocator.freeBytesAt(server);
  }

  /** Bytes of the replicas at {@code server} that are handed out. */
  public long usedBytesAt(int server) {
    return allocator.usedBytesAt(server);
  }

  /** The slab of which this is a replica, whatever its lease; null for none. */
  public Slab at(Replica replica) {
    Long id = byPlace.get(Held.of(replica));
    return id == null ? null : slabs.get(id);
  }

  /** The bytes of {@code range} in an arena of {@code server}; null when no replica is there. */
  public Location place(SlabRange range, int server) {
    Slab slab = slabs.get(range.slab());
    if (slab != null) {
      for (Replica replica : slab.getReplicasList()) {
        if (replica.getServer() == server) {
          return range.in(replica);
        }
      }
    }
    return null;
  }

  /** The servers with replicas, in order of their ids. */
  public Set<Integer> servers() {
    return Collections.unmodifiableSet(replicas.keySet());
  }

  /** A new slab, all of it free. */
  public void put(Transaction tx, Slab slab) {
    add(slab);
    tx.undoWith(() -> drop(slab));
    tx.put(map, key(slab.getId()), slab.toByteArray());
  }

  /** A slab without extents goes. */
  public void remove(Transaction tx, Slab slab) {
    drop(slab);
    tx.undoWith(() -> add(slab));
    tx.remove(map, key(slab.getId()));
  }

  /** A slab opens or closes, or its replicas change. */
  public void replace(Transaction tx, Slab after) {
    Slab before = slabs.get(after.getId());
    Invariant.check(before != null, () -> "no such slab: " + after.getId());
    change(before, after);
    tx.undoWith(() -> change(after, before));
    tx.put(map, key(after.getId()), after.toByteArray());
  }

  private void add(Slab slab) {
    slabs.put(slab.getId(), slab);
    addReplicas(slab);
    allocator.add(slab);
  }

  private void drop(Slab slab) {
    allocator.remove(slab);
    dropReplicas(slab);
    slabs.remove(slab.getId());
  }

  private void change(Slab before, Slab after) {
    dropReplicas(before);
    addReplicas(after);
    slabs.put(after.getId(), after);
    allocator.replace(after);
  }

  private void addReplicas(Slab slab) {
    for (Replica replica : slab.getReplicasList()) {
      byPlace.put(Held.of(replica), slab.getId());
      replicas.merge(replica.getServer(), 1, Integer::sum);
    }
  }

  private void dropReplicas(Slab slab) {
    for (Replica replica : slab.getReplicasList()) {
      byPlace.remove(Held.of(replica));
      replicas.computeIfPresent(replica.getServer(), (id, count) -> count > 1 ? count - 1 : null);
    }
  }

  private static byte[] key(long id) {
    return new ByteWriter(9).u8(PREFIX).u64(id).toBytes();
  }

  // ---- the summary of which units are used

  /** Writes which units are used, of the slabs where that has changed since it was last written. */
  public void summarize(OrderedMap summary) throws TakoException {
    for (long slab : allocator.takeChanged()) {
      byte[] used = allocator.used(slab);
      if (used == null) {
        summary.remove(key(slab));
      } else {
        summary.put(key(slab), used);
      }
    }
  }

  /** Takes the units that the summary says are used, at start. */
  void restore(OrderedMap summary) {
    summary.scanPrefix(
        new byte[] {PREFIX},
        (key, value) -> {
          allocator.restore(new ByteReader(key, 1).u64(), value);
          return true;
        });
  }
}
