package io.takofs.server.extent;

import io.takofs.proto.ExtentStatus;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The life of an extent: FREE, GRANTED, COMMITTED, QUARANTINE, FREE. Granted and quarantined ones
 * have a record, {@code X arena offset}, in the server's map; a committed one is a record of its
 * file, and a free one has none. The heap also keeps which units are free, and the grants of each
 * file.
 *
 * <p>A record is: state u8, generation u32, capacity in bytes; then of a grant client and file, u64
 * both; of a quarantined extent grantee u64 and time.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class ExtentTable {
  private static final byte PREFIX = 'X';
  private static final int GRANTED = 1;
  private static final int QUARANTINE = 2;

  private final OrderedMap map;
  private final ExtentAllocator allocator;
  private final NavigableMap<Long, NavigableMap<Location, Grant>> grants = new TreeMap<>();

  private final Population granted = new Population("granted");
  private final Population committed = new Population("committed");
  private final Population quarantine = new Population("quarantine");

  /** Only what housekeeping sees depends on it. */
  private final QuarantineQueue resting = new QuarantineQueue(this::quarantined);

  /**
   * Reads the records in {@code map}; committed extents are told with {@link #restoreCommitted}.
   */
  public ExtentTable(OrderedMap map, List<Long> arenas) {
    this.map = map;
    this.allocator = new ExtentAllocator(arenas);
    List<Quarantined> found = new ArrayList<>();
    map.scan(
        new byte[] {PREFIX},
        (key, value) -> {
          if (key[0] != PREFIX) {
            return false;
          }
          if (value[0] == GRANTED) {
            Grant grant = grant(key, value);
            allocator.take(grant.location());
            granted.add(grant.location());
            grantsOf(grant.fileId()).put(grant.location(), grant);
          } else {
            Quarantined extent = quarantined(key, value);
            allocator.take(extent.location());
            quarantine.add(extent.location());
            found.add(extent);
          }
          return true;
        });
    found.sort(Comparator.comparingLong(Quarantined::sinceMs));
    found.forEach(resting::add);
  }

  /** At start: {@code extent} belongs to a file. */
  public void restoreCommitted(Location extent) {
    allocator.take(extent);
    committed.add(extent);
  }

  /** Bytes that extents can ever have. */
  public long capacityBytes() {
    return allocator.capacityBytes();
  }

  /** Bytes that can be granted now. */
  public long freeBytes() {
    return allocator.freeBytes();
  }

  /** Extents by state. */
  public List<ExtentStatus> byState() {
    return List.of(
        ExtentStatus.newBuilder().setState("free").setBytes(freeBytes()).build(),
        granted.status(),
        committed.status(),
        quarantine.status());
  }

  /**
   * FREE becomes GRANTED: extents for {@code bytes} more bytes, at most {@code count}, maybe none.
   */
  public List<Grant> grant(
      Transaction tx, long clientId, long fileId, long bytes, int count, int generation) {
    List<Grant> granted = new ArrayList<>();
    long missing = bytes;
    while (missing > 0 && granted.size() < count) {
      Location location = allocator.allocate(missing);
      if (location == null) {
        break;
      }
      tx.undoWith(() -> allocator.free(location));
      Grant grant = new Grant(location, generation, clientId, fileId);
      add(tx, grant);
      tx.put(
          map,
          key(location),
          new ByteWriter(26)
              .u8(GRANTED)
              .u32(generation)
              .variable(location.capacity())
              .u64(clientId)
              .u64(fileId)
              .toBytes());
      granted.add(grant);
      missing -= location.capacity();
    }
    return granted;
  }

  /** The grant of {@code location} for {@code fileId}, or null. */
  public Grant granted(long fileId, Location location) {
    NavigableMap<Location, Grant> ofFile = grants.get(fileId);
    Grant grant = ofFile == null ? null : ofFile.get(location);
    return grant == null || !grant.location().equals(location) ? null : grant;
  }

  /** All grants for {@code fileId}. */
  public List<Grant> granted(long fileId) {
    NavigableMap<Location, Grant> ofFile = grants.get(fileId);
    return ofFile == null ? List.of() : List.copyOf(ofFile.values());
  }

  /** GRANTED becomes COMMITTED: from now on a record of the file. */
  public void commit(Transaction tx, Grant grant) {
    drop(tx, grant);
    committed.add(tx, grant.location());
    tx.remove(map, key(grant.location()));
  }

  /** GRANTED becomes FREE: nobody ever read it and the grantee's writes have completed. */
  public void release(Transaction tx, Grant grant) {
    drop(tx, grant);
    tx.remove(map, key(grant.location()));
    free(tx, grant.location());
  }

  /** GRANTED becomes QUARANTINE. {@code grantee} may still write it, unless 0. */
  public void revoke(Transaction tx, Grant grant, long grantee, long timeMs) {
    drop(tx, grant);
    quarantine.add(tx, grant.location());
    Quarantined extent = new Quarantined(grant.location(), grant.generation(), grantee, timeMs);
    rest(tx, extent);
    tx.replace(map, key(extent.location()), encode(extent));
  }

  /** COMMITTED, as the caller knows, becomes QUARANTINE. */
  public void quarantine(Transaction tx, Quarantined extent) {
    committed.remove(tx, extent.location());
    quarantine.add(tx, extent.location());
    rest(tx, extent);
    tx.put(map, key(extent.location()), encode(extent));
  }

  private void rest(Transaction tx, Quarantined extent) {
    resting.add(extent);
    tx.undoWith(resting::undoAdd);
  }

  /** The quarantined extent that has this location and generation, or null. */
  public Quarantined quarantined(Location location, int generation) {
    Quarantined found = quarantined(location.arena(), location.offset(), generation);
    return found != null && found.location().equals(location) ? found : null;
  }

  private Quarantined quarantined(int arena, int offset, int generation) {
    byte[] key = key(arena, offset);
    byte[] value = map.get(key);
    if (value == null || value[0] != QUARANTINE) {
      return null;
    }
    Quarantined found = quarantined(key, value);
    return found.generation() == generation ? found : null;
  }

  /** QUARANTINE becomes FREE. */
  public void free(Transaction tx, Quarantined extent) {
    quarantine.remove(tx, extent.location());
    tx.remove(map, key(extent.location()));
    free(tx, extent.location());
  }

  /** As {@code StateMachine.quarantined}. */
  public List<Quarantined> quarantined(long untilMs, int limit) {
    return resting.next(untilMs, limit);
  }

  /** As {@code StateMachine.hasFreshQuarantined}. */
  public boolean hasFreshQuarantined(long untilMs) {
    return resting.hasFresh(untilMs);
  }

  /** The latest time at which any extent came into quarantine, ms. */
  public long latestQuarantineMs() {
    return resting.latestMs();
  }

  /** Extents in quarantine. */
  public long quarantinedCount() {
    return quarantine.extents();
  }

  private void free(Transaction tx, Location location) {
    allocator.free(location);
    tx.undoWith(() -> allocator.take(location));
  }

  private void add(Transaction tx, Grant grant) {
    grantsOf(grant.fileId()).put(grant.location(), grant);
    tx.undoWith(() -> forget(grant));
    granted.add(tx, grant.location());
  }

  private void drop(Transaction tx, Grant grant) {
    forget(grant);
    tx.undoWith(() -> grantsOf(grant.fileId()).put(grant.location(), grant));
    granted.remove(tx, grant.location());
  }

  private NavigableMap<Location, Grant> grantsOf(long fileId) {
    return grants.computeIfAbsent(fileId, id -> new TreeMap<>());
  }

  private void forget(Grant grant) {
    NavigableMap<Location, Grant> ofFile = grants.get(grant.fileId());
    ofFile.remove(grant.location());
    if (ofFile.isEmpty()) {
      grants.remove(grant.fileId());
    }
  }

  private static byte[] key(Location location) {
    return key(location.arena(), location.offset());
  }

  private static byte[] key(int arena, int offset) {
    return new ByteWriter(9).u8(PREFIX).u32(arena).u32(offset).toBytes();
  }

  private static byte[] encode(Quarantined extent) {
    return new ByteWriter(26)
        .u8(QUARANTINE)
        .u32(extent.generation())
        .variable(extent.location().capacity())
        .u64(extent.grantee())
        .u64(extent.sinceMs())
        .toBytes();
  }

  private static Grant grant(byte[] key, byte[] value) {
    ByteReader in = new ByteReader(value, 1);
    int generation = in.u32();
    return new Grant(location(key, (int) in.variable()), generation, in.u64(), in.u64());
  }

  private static Quarantined quarantined(byte[] key, byte[] value) {
    ByteReader in = new ByteReader(value, 1);
    int generation = in.u32();
    return new Quarantined(location(key, (int) in.variable()), generation, in.u64(), in.u64());
  }

  private static Location location(byte[] key, int capacity) {
    ByteReader in = new ByteReader(key, 1);
    return new Location(in.u32(), in.u32(), capacity);
  }
}
