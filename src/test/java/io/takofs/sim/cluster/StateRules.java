package io.takofs.sim.cluster;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.store.Store;
import io.takofs.sim.SimMachine;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * What must be so of the records of one incarnation of a leader after every step: I22 and I25 of
 * the protocol, and those of the rules of slabs that records show. One committed extent more is
 * read at each step, and must be whole on each of its replicas.
 */
final class StateRules {
  private static final int GRANTED = 1;

  private final Store store;
  private final List<? extends SimMachine> machines;
  private final Map<Long, Slab> slabsBefore = new HashMap<>();
  private long next;

  /** A committed extent and its file. */
  private record Committed(long file, FileExtent extent) {}

  /**
   * @param store of the leader
   * @param machines whose memory has the slabs
   */
  StateRules(Store store, List<? extends SimMachine> machines) {
    this.store = store;
    this.machines = machines;
  }

  void check() {
    Map<Long, Slab> slabs = slabs();
    checkSlabs(slabs);
    used(slabs);
    List<Committed> committed = committed();
    checkIndex(slabs, committed);
    if (!committed.isEmpty()) {
      Committed one = committed.get((int) (next++ % committed.size()));
      for (Replica replica : slabs.get(one.extent().range().slab()).getReplicasList()) {
        checkBytes(one, replica);
      }
    }
  }

  /** Whether every slab that has a replica at {@code server} has another one that is not lost. */
  boolean canSpare(int server) {
    return slabs().values().stream()
        .map(Slab::getReplicasList)
        .filter(replicas -> replicas.stream().anyMatch(one -> one.getServer() == server))
        .allMatch(
            replicas ->
                replicas.stream()
                    .anyMatch(
                        one -> one.getServer() != server && machine(one.getServer()) != null));
  }

  /**
   * A slab with fewer replicas than it should and could have; null when there is none.
   *
   * @param others the servers that it could have more at
   * @param places for slabs at each of them
   * @param units of each of these places, from 1
   */
  Slab lacking(List<? extends SimMachine> others, int places, int units) {
    Map<Long, Slab> slabs = slabs();
    Map<Long, BitSet> used = used(slabs);
    Map<Integer, Integer> taken = new HashMap<>();
    for (Slab slab : slabs.values()) {
      if (!used.get(slab.getId()).isEmpty()) {
        slab.getReplicasList().forEach(one -> taken.merge(one.getServer(), 1, Integer::sum));
      }
    }
    for (Slab slab : slabs.values()) {
      Set<Integer> servers = new HashSet<>();
      slab.getReplicasList().forEach(one -> servers.add(one.getServer()));
      boolean hasRoom =
          others.stream()
              .anyMatch(
                  other ->
                      !servers.contains(other.id()) && taken.getOrDefault(other.id(), 0) < places);
      servers.removeIf(id -> machine(id) == null);
      boolean fits = slab.getFirstUnit() >= 1 && slab.getEndUnit() <= units;
      boolean lacks = fits && servers.size() < Math.min(slab.getWanted(), machines.size());
      if (lacks && hasRoom && !used.get(slab.getId()).isEmpty()) {
        return slab;
      }
    }
    return null;
  }

  /** Files whose data is to move to slabs with another number of copies. */
  int filesToMove() {
    int[] files = {0};
    store
        .server()
        .scanPrefix(
            new byte[] {Keys.TO_MOVE},
            (key, value) -> {
              files[0]++;
              return true;
            });
    return files[0];
  }

  private Map<Long, Slab> slabs() {
    Map<Long, Slab> slabs = new HashMap<>();
    store
        .server()
        .scanPrefix(
            new byte[] {'B'},
            (key, value) -> {
              Slab slab = slab(value);
              slabs.put(slab.getId(), slab);
              return true;
            });
    return slabs;
  }

  private static Slab slab(byte[] value) {
    try {
      return Slab.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError("no record of a slab", e);
    }
  }

  /** S6: replicas change with the version, and never get fewer. */
  private void checkSlabs(Map<Long, Slab> slabs) {
    Set<List<Integer>> places = new HashSet<>();
    for (Slab slab : slabs.values()) {
      Slab before = slabsBefore.put(slab.getId(), slab);
      for (Replica replica : slab.getReplicasList()) {
        List<Integer> place = List.of(replica.getServer(), replica.getArena(), replica.getIndex());
        check(places.add(place), "two slabs are at " + place, slab);
      }
      if (before != null && !before.getReplicasList().equals(slab.getReplicasList())) {
        check(slab.getVersion() > before.getVersion(), "other replicas of a version", slab);
        check(slab.getReplicasCount() >= before.getReplicasCount(), "fewer replicas", slab);
      }
      check(before == null || slab.getVersion() >= before.getVersion(), "an older one", slab);
    }
    slabsBefore.keySet().retainAll(slabs.keySet());
  }

  /** S1, S4: what is granted is in open slabs, and in one grant. */
  private void checkGranted(Map<Long, Slab> slabs, Map<Long, BitSet> used) {
    store
        .server()
        .scanPrefix(
            new byte[] {'X'},
            (key, value) -> {
              ByteReader in = new ByteReader(value);
              int state = in.u8();
              in.variable(); // its generation
              int units = (int) in.variable();
              Slab slab = slabs.get(Keys.id(key));
              int unit = new ByteReader(key, 9).u8();
              use(slab, used, unit, units);
              check(state != GRANTED || !slab.getClosed(), "a grant in a closed slab", slab);
              return true;
            });
  }

  /** I22: a unit is in one extent, which is committed, granted, or rests. */
  private Map<Long, BitSet> used(Map<Long, Slab> slabs) {
    Map<Long, BitSet> used = new HashMap<>();
    slabs.keySet().forEach(id -> used.put(id, new BitSet()));
    checkGranted(slabs, used);
    for (Committed one : committed()) {
      SlabRange range = one.extent().range();
      use(slabs.get(range.slab()), used, range.unit(), range.capacity() / Layout.UNIT_SIZE);
    }
    return used;
  }

  private List<Committed> committed() {
    List<Committed> committed = new ArrayList<>();
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      store
          .shard(shard)
          .scanPrefix(
              new byte[] {Keys.EXTENT},
              (key, value) -> {
                FileExtent extent = FileExtent.decode(Keys.second(key), value);
                committed.add(new Committed(Keys.id(key), extent));
                return true;
              });
    }
    return committed;
  }

  /** I22: one file has a committed extent, and the index of its slab names it. */
  private void checkIndex(Map<Long, Slab> slabs, List<Committed> committed) {
    Map<SlabPlace, Committed> byPlace = new HashMap<>();
    committed.forEach(
        one ->
            byPlace.put(
                new SlabPlace(one.extent().range().slab(), one.extent().range().unit()), one));
    int[] indexed = {0};
    store
        .server()
        .scanPrefix(
            new byte[] {'U'},
            (key, value) -> {
              indexed[0]++;
              ByteReader in = new ByteReader(value);
              long file = in.u64();
              long offset = in.u64();
              Committed one = byPlace.get(new SlabPlace(Keys.id(key), new ByteReader(key, 9).u8()));
              check(
                  one != null && one.file() == file && one.extent().fileOffset() == offset,
                  "the index has another owner than " + one,
                  slabs.get(Keys.id(key)));
              return true;
            });
    if (indexed[0] != committed.size()) {
      throw new AssertionError(committed.size() + " extents, " + indexed[0] + " in the index");
    }
  }

  /** The first unit of an extent. */
  private record SlabPlace(long slab, int unit) {}

  private static void use(Slab slab, Map<Long, BitSet> used, int unit, int units) {
    if (slab == null) {
      throw new AssertionError("an extent lies in a slab that is not there");
    }
    check(
        unit >= slab.getFirstUnit() && unit + units <= slab.getEndUnit(),
        "units " + unit + " and " + units + " after it are outside",
        slab);
    BitSet bits = used.get(slab.getId());
    int taken = bits.nextSetBit(unit);
    check(taken < 0 || taken >= unit + units, "two extents have unit " + taken, slab);
    bits.set(unit, unit + units);
  }

  /** I25, and R copies of what was acknowledged: the bytes are those of the record. */
  private void checkBytes(Committed one, Replica replica) {
    FileExtent extent = one.extent();
    int offset = extent.range().in(replica).offset();
    SimMachine machine = machine(replica.getServer());
    if (machine == null || machine.isFlipped(replica.getArena(), offset, extent.length())) {
      return;
    }
    ByteBuffer arena = machine.arena(replica.getArena());
    int granules = extent.length() / Layout.GRANULE_SIZE;
    int entries = offset / Layout.GRANULE_SIZE * Integer.BYTES;
    boolean whole = crc(arena, entries, granules * Integer.BYTES) == extent.checksumsCrc();
    int[] crcs = new int[1];
    for (int i = 0; whole && i < granules; i++) {
      Granules.checksums(arena, offset + i * Layout.GRANULE_SIZE, 1, crcs);
      whole = crcs[0] == arena.getInt(entries + i * Integer.BYTES);
    }
    int full = granules * Layout.GRANULE_SIZE;
    int tail = extent.length() - full;
    if (!whole || (tail > 0 && crc(arena, offset + full, tail) != extent.tailCrc())) {
      throw new AssertionError(
          "other bytes than those of " + one + " at server " + replica.getServer());
    }
  }

  /** The server with this id; null when its pool is lost. */
  private SimMachine machine(int id) {
    return machines.stream().filter(machine -> machine.id() == id).findAny().orElse(null);
  }

  private static int crc(ByteBuffer memory, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(memory.slice(at, length));
    return (int) crc.getValue();
  }

  private static void check(boolean holds, String what, Slab slab) {
    if (!holds) {
      throw new AssertionError(what + ": " + slab);
    }
  }
}
