package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.peer.Terms;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The slabs of a data zone: to which log group each is lent, and which grants may not write there
 * any more. Every change is in the slab zone when a method returns, so that a crash at any store
 * loses nothing that was answered.
 *
 * <ul>
 *   <li>A lease number is one more than the highest that any record has. It is used once, because a
 *       record is only overwritten by a higher one.
 *   <li>The highest term of a group that has slabs here is in at least one record of them. A group
 *       without slabs has nothing here that an earlier leader could spoil.
 *   <li>The fences of a slab, of each unit the highest grant that is refused, are cleared before it
 *       is lent again.
 * </ul>
 *
 * <p>Thread rule: any thread. Has its own lock, under which nothing else is taken.
 */
public final class SlabTable {
  private static final int FENCES_SIZE = Layout.SLAB_SLOT_SIZE - Layout.SLAB_FENCES;

  private final SlabZone zone;
  private final SlabPlaces places;
  private final SlabRecord[] records;
  private final BitSet free = new BitSet();
  private final Map<Integer, Long> terms = new HashMap<>(); // highest, by group
  private final Map<Integer, Units> storing = new HashMap<>(); // by slot; none stays for long
  private long lastLease;

  /** The state of a grant in a slab. */
  enum Fence {
    /** The slab is not lent under the lease, so that nobody writes there under it. */
    OVER,
    /** The grant is refused in all units. */
    DONE,
    /** The grant may be writing. */
    OPEN
  }

  /** Units of a slab, from its begin. */
  record Units(int first, int count) {
    private boolean overlap(int other, int otherCount) {
      return first < other + otherCount && other < first + count;
    }
  }

  private SlabTable(SlabZone zone, SlabPlaces places, SlabRecord[] records) {
    this.zone = zone;
    this.places = places;
    this.records = records;
    for (int slot = 0; slot < records.length; slot++) {
      SlabRecord record = records[slot];
      free.set(slot, record.state() == SlabState.FREE && places.bytes(slot) > 0);
      lastLease = Math.max(lastLease, record.lease());
      if (record.lease() > 0) {
        terms.merge(record.group(), record.term(), Math::max);
      }
    }
  }

  /**
   * The table in {@code zone}.
   *
   * @param arenaLengths bytes of each arena
   * @throws TakoException CORRUPT when both copies of a record are damaged
   */
  public static SlabTable open(SlabZone zone, List<Long> arenaLengths) throws TakoException {
    SlabPlaces places = new SlabPlaces(arenaLengths);
    if (zone.slotCount() < places.count()) {
      throw new TakoException(
          Status.CORRUPT,
          "the slab zone has "
              + zone.slotCount()
              + " slots for "
              + places.count()
              + " slabs; the pool was truncated");
    }
    SlabRecord[] records = new SlabRecord[places.count()];
    for (int slot = 0; slot < records.length; slot++) {
      records[slot] = SlabRecord.read(zone.slot(slot));
      if (records[slot] == null) {
        throw new TakoException(
            Status.CORRUPT,
            "slab zone: both copies of the record of slab "
                + places.index(slot)
                + " of arena "
                + places.arena(slot)
                + " fail their CRC; keep a copy of the pool's directory, and restore it from"
                + " elsewhere");
      }
    }
    return new SlabTable(zone, places, records);
  }

  SlabPlaces places() {
    return places;
  }

  /**
   * The leader of a group spoke: keeps its term if that is the highest.
   *
   * @throws TakoException STALE_TERM when a later leader was heard of; PERMISSION_DENIED when slabs
   *     are lent to a former namespace of the group, of which this leader knows nothing
   */
  synchronized void hear(int group, long term) throws TakoException {
    long highest = terms.getOrDefault(group, 0L);
    if (term < highest) {
      throw new TakoException(
          Status.STALE_TERM,
          "group %d has a leader of term %d, this one is of term %d"
              .formatted(group, highest, term));
    }
    if (term > highest) {
      checkNamespace(group, term, highest);
      terms.put(group, term);
      keepTerm(group, -1);
    }
  }

  private void checkNamespace(int group, long term, long highest) throws TakoException {
    if (Terms.namespace(term) == Terms.namespace(highest)) {
      return;
    }
    int held = heldBy(group, -1, records.length).size();
    if (held > 0) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          ("%d slabs have data of the namespace that group %d had before its leader's pool was"
                  + " lost: they are not given to another one. Nobody can read them any more; to use this"
                  + " server again, stop it, remove the directory of its pool, and start it with"
                  + " --format")
              .formatted(held, group));
    }
  }

  /**
   * Sees that the group's highest term is in the record of a slab that it has, if it has any beside
   * {@code leaving}.
   */
  private void keepTerm(int group, int leaving) {
    long term = terms.getOrDefault(group, 0L);
    int first = -1;
    for (int slot = 0; slot < records.length; slot++) {
      SlabRecord record = records[slot];
      if (record.state() == SlabState.FREE || record.group() != group || slot == leaving) {
        continue;
      }
      if (record.term() == term) {
        return;
      }
      first = first < 0 ? slot : first;
    }
    if (first >= 0) {
      write(first, records[first].heardIn(term));
    }
  }

  /**
   * Lends the lowest free slabs, or says which were lent when it was asked before.
   *
   * @param request number of the request within the term, from 1
   * @param count slabs wanted at most
   * @return slots of the slabs that are lent under this request, in order; maybe none
   */
  synchronized List<Integer> lease(int group, long term, long request, int count) {
    List<Integer> slots = new ArrayList<>();
    boolean asked = false;
    for (int slot = 0; slot < records.length; slot++) {
      SlabRecord record = records[slot];
      if (record.lease() > 0
          && record.group() == group
          && record.term() == term
          && record.request() == request) {
        asked = true;
        if (record.state() == SlabState.LEASED) {
          slots.add(slot);
        }
      }
    }
    if (asked) {
      return slots;
    }
    int lent = Math.min(count, free.cardinality());
    for (int i = 0; i < lent; i++) {
      int slot = free.nextSetBit(0);
      clearFences(slot);
      write(slot, records[slot].leased(lastLease + 1, group, term, request));
      slots.add(slot);
    }
    return slots;
  }

  private void clearFences(int slot) {
    ByteBuffer memory = zone.slot(slot);
    for (int i = Layout.SLAB_FENCES; i < Layout.SLAB_SLOT_SIZE; i += Long.BYTES) {
      memory.putLong(i, 0);
    }
    zone.persist(slot, Layout.SLAB_FENCES, FENCES_SIZE);
  }

  /**
   * LEASED becomes RETURNED.
   *
   * @return whether it did: not when the slab is not lent to the group under this lease
   */
  synchronized boolean giveBack(int slot, int group, long lease) {
    if (!isHeld(slot, group, lease)) {
      return false;
    }
    write(slot, records[slot].in(SlabState.RETURNED));
    return true;
  }

  /**
   * RETURNED becomes FREE: no client can write there, and nobody reads.
   *
   * @return whether it is: not while a copy is being stored there
   */
  synchronized boolean free(int slot) {
    if (records[slot].state() != SlabState.RETURNED || storing.containsKey(slot)) {
      return false;
    }
    keepTerm(records[slot].group(), slot);
    write(slot, records[slot].in(SlabState.FREE));
    return true;
  }

  /**
   * This server's own copier begins to store in some units of a slab, one extent at a time; until
   * {@link #endStore} the slab is not lent again, and no grant is fenced in the units.
   *
   * @param grant under which it stores; 0 when nothing is granted in the slab
   * @return whether it may: not when the lease is over, or the grant is refused
   */
  synchronized boolean beginStore(int slot, int group, long lease, Units units, long grant) {
    boolean may = mayStore(slot, group, lease, units, grant);
    if (may) {
      storing.put(slot, units);
    }
    return may;
  }

  /** Whether {@link #beginStore} would be answered so. */
  synchronized boolean mayStore(int slot, int group, long lease, Units units, long grant) {
    if (!isHeld(slot, group, lease)) {
      return false;
    }
    for (int i = units.first; i < units.first + units.count && grant != 0; i++) {
      if (isClosed(slot, lease, i, grant)) {
        return false;
      }
    }
    return true;
  }

  synchronized void endStore(int slot) {
    storing.remove(slot);
  }

  private void write(int slot, SlabRecord record) {
    record.write(zone, slot);
    records[slot] = record;
    free.set(slot, record.state() == SlabState.FREE);
    lastLease = Math.max(lastLease, record.lease());
  }

  /** Slots of the slabs that are RETURNED. */
  synchronized List<Integer> returned() {
    List<Integer> slots = new ArrayList<>();
    for (int slot = 0; slot < records.length; slot++) {
      if (records[slot].state() == SlabState.RETURNED) {
        slots.add(slot);
      }
    }
    return slots;
  }

  /** Slots of up to {@code limit} slabs after {@code after} that are lent to the group. */
  synchronized List<Integer> heldBy(int group, int after, int limit) {
    List<Integer> slots = new ArrayList<>();
    for (int slot = after + 1; slot < records.length && slots.size() < limit; slot++) {
      if (records[slot].state() == SlabState.LEASED && records[slot].group() == group) {
        slots.add(slot);
      }
    }
    return slots;
  }

  /** Whether the slab is lent to the group under this lease. */
  synchronized boolean isHeld(int slot, int group, long lease) {
    return records[slot].isLeasedAs(lease) && records[slot].group() == group;
  }

  synchronized long lease(int slot) {
    return records[slot].lease();
  }

  /** Slabs there are. */
  public int size() {
    return records.length;
  }

  /** Slabs that can be lent. */
  public synchronized int freeCount() {
    return free.cardinality();
  }

  /** The space that extents may use, in whole slabs; RETURNED counts as used. */
  synchronized SpaceUsage usage() {
    long capacity = 0;
    long unused = 0;
    for (int slot = 0; slot < records.length; slot++) {
      long bytes = places.bytes(slot);
      capacity += bytes;
      unused += free.get(slot) ? bytes : 0;
    }
    return SpaceUsage.newBuilder()
        .setCapacity(capacity)
        .setUsed(capacity - unused)
        .setFree(unused)
        .build();
  }

  /**
   * The state of a grant in {@code units} units of a slab.
   *
   * @param unit the first, from the begin of the slab
   */
  synchronized Fence fence(int slot, int group, long lease, int unit, int units, long grant) {
    if (!isHeld(slot, group, lease)) {
      return Fence.OVER;
    }
    ByteBuffer memory = zone.slot(slot);
    for (int i = unit; i < unit + units; i++) {
      if (Long.compareUnsigned(memory.getLong(word(i)), grant) < 0) {
        return Fence.OPEN;
      }
    }
    return Fence.DONE;
  }

  /**
   * Refuses the grant, and those before it, in these units from now on, unless the lease is over.
   *
   * @return whether it is so: not while a copy is being stored there
   */
  synchronized boolean close(int slot, int group, long lease, int unit, int units, long grant) {
    if (!isHeld(slot, group, lease)) {
      return true;
    }
    if (storing.containsKey(slot) && storing.get(slot).overlap(unit, units)) {
      return false;
    }
    ByteBuffer memory = zone.slot(slot);
    for (int i = unit; i < unit + units; i++) {
      if (Long.compareUnsigned(memory.getLong(word(i)), grant) < 0) {
        memory.putLong(word(i), grant);
      }
    }
    zone.persist(slot, word(unit), units * Long.BYTES);
    return true;
  }

  /** Whether the slab is not lent under the lease, or the grant is refused in the unit. */
  synchronized boolean isClosed(int slot, long lease, int unit, long grant) {
    return !records[slot].isLeasedAs(lease)
        || Long.compareUnsigned(zone.slot(slot).getLong(word(unit)), grant) >= 0;
  }

  private static int word(int unit) {
    return Layout.SLAB_FENCES + unit * Long.BYTES;
  }
}
