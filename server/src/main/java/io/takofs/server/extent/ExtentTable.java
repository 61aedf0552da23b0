package io.takofs.server.extent;

import io.takofs.base.TakoException;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.LeftReplica;
import io.takofs.proto.Replica;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/**
 * The life of an extent: FREE, GRANTED, COMMITTED, QUARANTINE, FREE. Granted and quarantined ones
 * have a record, {@code X slab unit}, in the server's map; a committed one is a record of its file,
 * which {@code U slab unit} names, and a free one has none. The heap also keeps which units are
 * free, and the grants of each file.
 *
 * <p>An X record is: state u8, generation, capacity in units; then of a grant client and file, u64
 * both; of a quarantined extent grantee u64, time, and by how much the last grant's number exceeds
 * the generation, or, of one that its writer may read back, grantee and file, u64 both. A U record
 * is: file u64, position in the file u64.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class ExtentTable {
  private static final byte PREFIX = 'X';
  private static final byte COMMITTED = 'U';
  private static final int GRANTED = 1;
  private static final int QUARANTINE = 2;
  private static final int KEPT = 3;
  private static final byte[] SUMMARY = {COMMITTED};

  private final OrderedMap map;
  private final ExtentAllocator allocator = new ExtentAllocator();
  private final GroupSlabs slabs;
  private final LeftReplicas left;
  private final NavigableMap<Long, NavigableMap<SlabRange, Grant>> grants = new TreeMap<>();

  private final Population granted = new Population("granted");
  private final Population committed = new Population("committed");
  private final Population quarantine = new Population("quarantine");

  /** Only what housekeeping sees depends on it. */
  private final QuarantineQueue resting = new QuarantineQueue(this::quarantined);

  /**
   * Reads the records of slabs, grants and quarantined extents in {@code map}; which units are used
   * and how many extents are committed the summary says.
   */
  public ExtentTable(OrderedMap map, OrderedMap summary) {
    this.map = map;
    this.slabs = new GroupSlabs(map, allocator);
    this.left = new LeftReplicas(map);
    slabs.restore(summary);
    byte[] counts = summary.get(SUMMARY);
    if (counts != null) {
      ByteReader in = new ByteReader(counts);
      committed.restore(in.variable(), in.variable());
    }
    List<Quarantined> found = new ArrayList<>();
    scan(
        new byte[] {PREFIX},
        (key, value) -> {
          if (value[0] == GRANTED) {
            Grant grant = grant(key, value);
            granted.add(grant.range());
            grantsOf(grant.fileId()).put(grant.range(), grant);
          } else {
            Quarantined extent = quarantined(key, value);
            quarantine.add(extent.range());
            found.add(extent);
          }
        });
    found.sort(Comparator.comparingLong(Quarantined::sinceMs));
    found.forEach(resting::add);
  }

  /** Receives records. */
  private interface Records {
    void visit(byte[] key, byte[] value);
  }

  private void scan(byte[] prefix, Records visitor) {
    map.scanPrefix(
        prefix,
        (key, value) -> {
          visitor.visit(key, value);
          return true;
        });
  }

  /** Writes what a start takes from the summary instead of from all records. */
  public void summarize(OrderedMap summary) throws TakoException {
    slabs.summarize(summary);
    summary.put(
        SUMMARY,
        new ByteWriter(20).variable(committed.extents()).variable(committed.bytes()).toBytes());
  }

  public GroupSlabs slabs() {
    return slabs;
  }

  /** Bytes that extents can ever have in the slabs there are. */
  public long capacityBytes() {
    return allocator.capacityBytes();
  }

  /** Bytes that can be granted now. */
  public long freeBytes() {
    return allocator.freeBytes();
  }

  /**
   * Bytes that can be granted now to files that are to have {@code copies} copies, none of them at
   * {@code avoided} servers.
   */
  public long freeBytes(int copies, Set<Integer> avoided) {
    return allocator.freeBytes(copies, avoided);
  }

  /** Bytes that extents of such files can be granted now in slabs with a copy at {@code server}. */
  public long freeBytesNear(int copies, int server) {
    return allocator.freeBytesNear(copies, server);
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
   * FREE becomes GRANTED: extents for as much as is wanted; fewer or none when there are not more.
   */
  public List<Grant> grant(
      Transaction tx, long clientId, long fileId, long generation, Wanted wanted) {
    List<Grant> granted = new ArrayList<>();
    long missing = wanted.bytes();
    while (missing > 0 && granted.size() < wanted.count()) {
      SlabRange range = allocator.allocate(missing, wanted);
      if (range == null) {
        break;
      }
      tx.undoWith(() -> allocator.free(range));
      Grant grant = new Grant(range, generation, clientId, fileId);
      add(tx, grant);
      tx.put(
          map,
          key(range),
          new ByteWriter(26)
              .u8(GRANTED)
              .variable(generation)
              .variable(range.units())
              .u64(clientId)
              .u64(fileId)
              .toBytes());
      granted.add(grant);
      missing -= range.capacity();
    }
    return granted;
  }

  /** The grant of {@code range} for {@code fileId}, or null. */
  public Grant granted(long fileId, SlabRange range) {
    NavigableMap<SlabRange, Grant> ofFile = grants.get(fileId);
    Grant grant = ofFile == null ? null : ofFile.get(range);
    return grant == null || !grant.range().equals(range) ? null : grant;
  }

  /** All grants for {@code fileId}. */
  public List<Grant> granted(long fileId) {
    NavigableMap<SlabRange, Grant> ofFile = grants.get(fileId);
    return ofFile == null ? List.of() : List.copyOf(ofFile.values());
  }

  /**
   * Whether something at the first unit of {@code range} is granted with that generation, or is
   * committed and of {@code fileId}; whatever is no range counts, too.
   */
  public boolean isGrantedOrOf(long fileId, SlabRange range, long generation) {
    if (!range.isOfUnits()) {
      return true;
    }
    byte[] value = map.get(key(range));
    if (value != null) {
      return value[0] == GRANTED && grant(key(range), value).generation() == generation;
    }
    byte[] owner = map.get(committedKey(range));
    return owner != null && new ByteReader(owner).u64() == fileId;
  }

  /** All grants in a slab. */
  public List<Grant> grantedIn(long slab) {
    List<Grant> found = new ArrayList<>();
    scan(
        prefix(PREFIX, slab),
        (key, value) -> {
          if (value[0] == GRANTED) {
            found.add(grant(key, value));
          }
        });
    return found;
  }

  /** All extents in quarantine in a slab. */
  public List<Quarantined> quarantinedIn(long slab) {
    List<Quarantined> found = new ArrayList<>();
    scan(
        prefix(PREFIX, slab),
        (key, value) -> {
          if (value[0] != GRANTED) {
            found.add(quarantined(key, value));
          }
        });
    return found;
  }

  /** Whether nothing in a slab is granted or committed, and nothing that rests there is kept. */
  public boolean isUnused(long slab, Predicate<Quarantined> kept) {
    return !any(prefix(COMMITTED, slab), (key, value) -> true)
        && !any(
            prefix(PREFIX, slab),
            (key, value) -> value[0] == GRANTED || kept.test(quarantined(key, value)));
  }

  private boolean any(byte[] prefix, BiPredicate<byte[], byte[]> wanted) {
    boolean[] found = {false};
    map.scanPrefix(
        prefix,
        (key, value) -> {
          found[0] = wanted.test(key, value);
          return !found[0];
        });
    return found[0];
  }

  /** A replica leaves its slab, and is remembered until its server has taken it back. */
  public void leave(Transaction tx, LeftReplica replica) {
    left.add(tx, replica);
  }

  /** A replica that left is its server's again. */
  public void returned(Transaction tx, Replica replica) {
    left.remove(tx, replica);
  }

  /** Replicas that left their slabs and may still be lent to the group. */
  public LeftReplicas left() {
    return left;
  }

  /** All committed extents in a slab. */
  public List<CommittedExtent> committedIn(long slab) {
    List<CommittedExtent> found = new ArrayList<>();
    scan(
        prefix(COMMITTED, slab),
        (key, value) -> {
          ByteReader in = new ByteReader(value);
          found.add(new CommittedExtent(new ByteReader(key, 9).u8(), in.u64(), in.u64()));
        });
    return found;
  }

  /** GRANTED becomes COMMITTED: from now on a record of the file. */
  public void commit(Transaction tx, Grant grant, long fileOffset) {
    commit(tx, grant, grant.fileId(), fileOffset);
  }

  /** As {@link #commit(Transaction, Grant, long)}, of a grant of the copier. */
  public void commit(Transaction tx, Grant grant, long fileId, long fileOffset) {
    drop(tx, grant);
    committed.add(tx, grant.range());
    tx.remove(map, key(grant.range()));
    tx.put(map, committedKey(grant.range()), belongs(fileId, fileOffset));
  }

  /** A committed extent belongs to another file or is at another position of it. */
  public void moved(Transaction tx, SlabRange range, long fileId, long fileOffset) {
    tx.replace(map, committedKey(range), belongs(fileId, fileOffset));
  }

  private static byte[] belongs(long fileId, long fileOffset) {
    return new ByteWriter(16).u64(fileId).u64(fileOffset).toBytes();
  }

  /** GRANTED becomes FREE: nobody ever read it and the grantee's writes have completed. */
  public void release(Transaction tx, Grant grant) {
    drop(tx, grant);
    tx.remove(map, key(grant.range()));
    free(tx, grant.range());
  }

  /** GRANTED becomes QUARANTINE. {@code grantee} may still write it, unless 0. */
  public void revoke(Transaction tx, Grant grant, long grantee, long timeMs) {
    long number = grant.generation();
    end(tx, grant, new Quarantined(grant.range(), number, number, grantee, timeMs));
  }

  /**
   * GRANTED becomes QUARANTINE because its slab is closed. It stays there for as long as its writer
   * has the lease of its file, and does not give it up: it reads back what it has not committed.
   */
  public void close(Transaction tx, Grant grant) {
    long number = grant.generation();
    end(
        tx,
        grant,
        new Quarantined(grant.range(), number, number, grant.clientId(), 0, grant.fileId()));
  }

  private void end(Transaction tx, Grant grant, Quarantined extent) {
    drop(tx, grant);
    quarantine.add(tx, grant.range());
    rest(tx, extent);
    tx.replace(map, key(extent.range()), encode(extent));
  }

  /** The writer of {@code extent}, which was closed, has read back what it wants of it. */
  public void giveUp(Transaction tx, Quarantined extent, long timeMs) {
    Quarantined resting =
        new Quarantined(
            extent.range(), extent.generation(), extent.grant(), extent.grantee(), timeMs);
    tx.replace(map, key(extent.range()), encode(resting));
  }

  /** COMMITTED, as the caller knows, becomes QUARANTINE. */
  public void quarantine(Transaction tx, Quarantined extent) {
    committed.remove(tx, extent.range());
    quarantine.add(tx, extent.range());
    rest(tx, extent);
    tx.put(map, key(extent.range()), encode(extent));
    tx.remove(map, committedKey(extent.range()));
  }

  private void rest(Transaction tx, Quarantined extent) {
    resting.add(extent);
    tx.undoWith(resting::undoAdd);
  }

  /** The quarantined extent that has this place and generation, or null. */
  public Quarantined quarantined(SlabRange range, long generation) {
    if (!range.isOfUnits()) {
      return null;
    }
    Quarantined found = quarantined(range.slab(), range.unit(), generation);
    return found != null && found.range().equals(range) ? found : null;
  }

  private Quarantined quarantined(long slab, int unit, long generation) {
    byte[] key = key(PREFIX, slab, unit);
    byte[] value = map.get(key);
    if (value == null || value[0] == GRANTED) {
      return null;
    }
    Quarantined found = quarantined(key, value);
    return found.generation() == generation ? found : null;
  }

  /** QUARANTINE becomes FREE. */
  public void free(Transaction tx, Quarantined extent) {
    quarantine.remove(tx, extent.range());
    tx.remove(map, key(extent.range()));
    free(tx, extent.range());
  }

  /** As {@code StateMachine.quarantined}. */
  public List<Quarantined> quarantined(long untilMs, int limit) {
    return resting.next(untilMs, limit);
  }

  /** As {@code StateMachine.hasFreshQuarantined}. */
  public boolean hasFreshQuarantined(long untilMs) {
    return resting.hasFresh(untilMs);
  }

  /** Extents in quarantine. */
  public long quarantinedCount() {
    return quarantine.extents();
  }

  private void free(Transaction tx, SlabRange range) {
    allocator.free(range);
    tx.undoWith(() -> allocator.take(range));
  }

  private void add(Transaction tx, Grant grant) {
    grantsOf(grant.fileId()).put(grant.range(), grant);
    tx.undoWith(() -> forget(grant));
    granted.add(tx, grant.range());
  }

  private void drop(Transaction tx, Grant grant) {
    forget(grant);
    tx.undoWith(() -> grantsOf(grant.fileId()).put(grant.range(), grant));
    granted.remove(tx, grant.range());
  }

  private NavigableMap<SlabRange, Grant> grantsOf(long fileId) {
    return grants.computeIfAbsent(fileId, id -> new TreeMap<>());
  }

  private void forget(Grant grant) {
    NavigableMap<SlabRange, Grant> ofFile = grants.get(grant.fileId());
    ofFile.remove(grant.range());
    if (ofFile.isEmpty()) {
      grants.remove(grant.fileId());
    }
  }

  private static byte[] key(SlabRange range) {
    return key(PREFIX, range.slab(), range.unit());
  }

  private static byte[] committedKey(SlabRange range) {
    return key(COMMITTED, range.slab(), range.unit());
  }

  private static byte[] key(byte kind, long slab, int unit) {
    return new ByteWriter(10).u8(kind).u64(slab).u8(unit).toBytes();
  }

  private static byte[] prefix(byte kind, long slab) {
    return new ByteWriter(9).u8(kind).u64(slab).toBytes();
  }

  private static byte[] encode(Quarantined extent) {
    if (extent.file() != 0) {
      return new ByteWriter(26)
          .u8(KEPT)
          .variable(extent.generation())
          .variable(extent.range().units())
          .u64(extent.grantee())
          .u64(extent.file())
          .toBytes();
    }
    return new ByteWriter(26)
        .u8(QUARANTINE)
        .variable(extent.generation())
        .variable(extent.range().units())
        .u64(extent.grantee())
        .variable(extent.sinceMs())
        .variable(extent.grant() - extent.generation())
        .toBytes();
  }

  private static Grant grant(byte[] key, byte[] value) {
    ByteReader in = new ByteReader(value, 1);
    long generation = in.variable();
    return new Grant(range(key, (int) in.variable()), generation, in.u64(), in.u64());
  }

  private static Quarantined quarantined(byte[] key, byte[] value) {
    ByteReader in = new ByteReader(value, 1);
    long generation = in.variable();
    SlabRange range = range(key, (int) in.variable());
    long grantee = in.u64();
    if (value[0] == KEPT) {
      return new Quarantined(range, generation, generation, grantee, 0, in.u64());
    }
    long sinceMs = in.variable();
    return new Quarantined(range, generation, generation + in.variable(), grantee, sinceMs);
  }

  private static SlabRange range(byte[] key, int units) {
    ByteReader in = new ByteReader(key, 1);
    return SlabRange.ofUnits(in.u64(), in.u8(), units);
  }
}
