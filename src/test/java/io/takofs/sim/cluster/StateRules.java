package io.takofs.sim.cluster;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.extent.Location;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.store.Store;
import io.takofs.sim.SimFlips;
import io.takofs.sim.SimMachine;
import io.takofs.sim.SimNetwork;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Checks the records of one incarnation of a leader after every step that changed them: I22 to I25
 * of the protocol, and those of the rules of slabs that records show.
 */
final class StateRules {
  private final Store store;
  private final LongSupplier entries;
  private final List<? extends SimMachine> machines;
  private final SimNetwork network;
  private final CommittedBytes bytes;
  private StateRecords records;
  private UnitUses uses;
  private long checkedEntries;
  private long next;

  /**
   * @param store of the leader
   * @param entries that were applied to it: while there are no more, its records are the same
   * @param machines whose memory has the slabs
   */
  StateRules(
      Store store, LongSupplier entries, List<? extends SimMachine> machines, SimNetwork network) {
    this.store = store;
    this.entries = entries;
    this.machines = machines;
    this.network = network;
    this.bytes = new CommittedBytes(machines);
  }

  /** I22, I24 and the rules of slabs, if an entry was applied since the last call. */
  void checkRecords() {
    if (records != null && entries.getAsLong() == checkedEntries) {
      return;
    }
    StateRecords now = StateRecords.read(store);
    UnitUses nowUsed = UnitUses.of(now);
    checkSlabs(now.slabs());
    checkIndex(now);
    if (records != null) {
      checkFreed(now, nowUsed);
    }
    records = now;
    uses = nowUsed;
    checkedEntries = entries.getAsLong();
  }

  /** I25 of one committed extent more at each call. */
  void checkBytes() {
    checkRecords();
    if (!records.committed().isEmpty()) {
      StateRecords.Committed one =
          records.committed().get((int) (next++ % records.committed().size()));
      bytes.check(one, slabOf(one));
    }
  }

  private Slab slabOf(StateRecords.Committed one) {
    return records.slabs().get(one.extent().range().slab());
  }

  // ---- who stores where -------------------------------------------------------------------------

  /**
   * I23: what {@code client} stores lands where it was granted an extent, or may be late: never in
   * a free extent, nor in one that somebody else was granted since.
   */
  void checkStore(MappedMemory arena, int offset, int length, long client) {
    SimMachine machine =
        machines.stream().filter(each -> each.arenas().contains(arena)).findAny().orElse(null);
    if (machine == null) {
      return;
    }
    checkRecords();
    int number = machine.arenas().indexOf(arena);
    int entriesEnd = Math.toIntExact(arena.length() / Layout.GRANULE_SIZE * Integer.BYTES);
    boolean isOfChecksums = offset < entriesEnd;
    int begin = isOfChecksums ? offset / Integer.BYTES * Layout.GRANULE_SIZE : offset;
    int bytesOfData = isOfChecksums ? length / Integer.BYTES * Layout.GRANULE_SIZE : length;
    for (Slab slab : records.slabs().values()) {
      for (Replica replica : slab.getReplicasList()) {
        boolean here = replica.getServer() == machine.id() && replica.getArena() == number;
        if (here && replica.getIndex() == begin / Layout.SLAB_SIZE) {
          int first = begin % Layout.SLAB_SIZE / Layout.UNIT_SIZE;
          int last = (begin % Layout.SLAB_SIZE + bytesOfData - 1) / Layout.UNIT_SIZE;
          for (int unit = first; unit <= last; unit++) {
            UnitUses.Use use = uses.at(slab.getId(), unit);
            check(
                use != null && use.mayStore(client),
                () ->
                    "I23: client %x stores at server %d, which is %s there"
                        .formatted(client, machine.id(), use == null ? "free" : use),
                slab);
          }
        }
      }
    }
  }

  /**
   * I24: an extent is free, or another's, when everybody who might store there has left, or is
   * fenced at all of its servers: nothing is under way to it. (That nobody reads there is in the
   * simulation of slabs; no reader here maps the memory of a server.)
   */
  private void checkFreed(StateRecords now, UnitUses nowUsed) {
    for (Slab slab : now.slabs().values()) {
      if (records.slabs().containsKey(slab.getId())) {
        for (int unit = slab.getFirstUnit(); unit < slab.getEndUnit(); unit++) {
          UnitUses.Use before = uses.at(slab.getId(), unit);
          UnitUses.Use after = nowUsed.at(slab.getId(), unit);
          if (before != null && !before.equals(after)) {
            checkFreed(slab, unit, before, after);
          }
        }
      }
    }
  }

  private void checkFreed(Slab slab, int unit, UnitUses.Use before, UnitUses.Use after) {
    LongStream.of(before.writer(), before.lateWriter())
        .filter(client -> client != 0 && (after == null || !after.mayStore(client)))
        .forEach(
            client -> {
              for (Replica replica : slab.getReplicasList()) {
                check(
                    !isStoring(client, replica, unit),
                    () ->
                        "I24: client %x still stores at server %d in unit %d, which is %s now"
                            .formatted(
                                client, replica.getServer(), unit, after == null ? "free" : after),
                    slab);
              }
            });
  }

  private boolean isStoring(long client, Replica replica, int unit) {
    SimMachine machine = bytes.machine(replica.getServer());
    if (machine == null) {
      return false;
    }
    MappedMemory arena = machine.arenas().get(replica.getArena());
    int offset = replica.getIndex() * Layout.SLAB_SIZE + unit * Layout.UNIT_SIZE;
    int entriesAt = offset / Layout.GRANULE_SIZE * Integer.BYTES;
    int entriesBytes = Layout.UNIT_SIZE / Layout.GRANULE_SIZE * Integer.BYTES;
    return network.isStoring(client, arena, offset, Layout.UNIT_SIZE)
        || network.isStoring(client, arena, entriesAt, entriesBytes);
  }

  // ---- what must be there in the end ------------------------------------------------------------

  /**
   * Whether nothing is lost with the pool of {@code server}: every slab that has a replica there
   * has another one that is not lost, and of every extent that has a copy there another one is
   * intact. So it is none of which all copies are wrong: a client would wait for the lost one, as
   * in {@link #mayFlip}.
   */
  boolean canSpare(int server) {
    checkRecords();
    boolean allElsewhere =
        records.slabs().values().stream()
            .map(Slab::getReplicasList)
            .filter(replicas -> replicas.stream().anyMatch(one -> one.getServer() == server))
            .allMatch(
                replicas ->
                    replicas.stream()
                        .anyMatch(
                            one ->
                                one.getServer() != server
                                    && bytes.machine(one.getServer()) != null));
    return allElsewhere
        && records.committed().stream()
            .allMatch(
                one ->
                    bytes.isIntactWithout(server, one.extent(), slabOf(one))
                        || slabOf(one).getReplicasList().stream()
                            .noneMatch(replica -> replica.getServer() == server));
  }

  /**
   * Whether a byte of {@code server} may change by itself. It may not where it would leave copies
   * only that are lost with their servers' pools: a client cannot know that these never come back,
   * and would wait for them.
   */
  boolean mayFlip(int server, int arena, int offset) {
    checkRecords();
    for (StateRecords.Committed one : records.committed()) {
      Slab slab = slabOf(one);
      boolean hasLost =
          slab.getReplicasList().stream().anyMatch(each -> bytes.machine(each.getServer()) == null);
      if (hasLost
          && isIn(one.extent(), slab, server, arena, offset)
          && !bytes.isIntactWithout(server, one.extent(), slab)) {
        return false;
      }
    }
    return true;
  }

  /** Whether a byte is one of an extent, or of its checksums. */
  private static boolean isIn(FileExtent extent, Slab slab, int server, int arena, int offset) {
    for (Replica replica : slab.getReplicasList()) {
      if (replica.getServer() == server && replica.getArena() == arena) {
        Location at = extent.range().in(replica);
        return SimFlips.isOf(offset, at.offset(), at.capacity());
      }
    }
    return false;
  }

  /** Whether {@code file} has extents, and of each of them an intact copy. */
  boolean isWhole(long file) {
    checkRecords();
    List<StateRecords.Committed> extents =
        records.committed().stream().filter(one -> one.file() == file).toList();
    return !extents.isEmpty()
        && extents.stream().allMatch(one -> bytes.isIntact(one.extent(), slabOf(one)));
  }

  /**
   * What is not as it should and could be: a slab has fewer replicas, or one with wrong bytes of
   * which another one has the right ones. Empty when all is well.
   *
   * @param others the servers that could have more replicas
   * @param places for slabs at each of them
   * @param units of each of these places, from 1
   */
  String lacking(List<? extends SimMachine> others, int places, int units) {
    checkRecords();
    Map<Integer, Integer> taken = new HashMap<>();
    List<Slab> used =
        records.slabs().values().stream().filter(slab -> !uses.isEmpty(slab.getId())).toList();
    used.forEach(
        slab ->
            slab.getReplicasList().forEach(one -> taken.merge(one.getServer(), 1, Integer::sum)));
    List<Integer> roomy =
        others.stream()
            .map(SimMachine::id)
            .filter(id -> taken.getOrDefault(id, 0) < places)
            .toList();
    for (Slab slab : used) {
      boolean fits = slab.getFirstUnit() >= 1 && slab.getEndUnit() <= units;
      Set<Integer> servers = new HashSet<>();
      slab.getReplicasList().forEach(one -> servers.add(one.getServer()));
      boolean hasRoom = fits && roomy.stream().anyMatch(id -> !servers.contains(id));
      long there = servers.stream().filter(id -> bytes.machine(id) != null).count();
      if (hasRoom && there < Math.min(slab.getWanted(), machines.size())) {
        return "fewer replicas than there should be: " + slab;
      }
    }
    for (StateRecords.Committed one : records.committed()) {
      Slab slab = slabOf(one);
      boolean fits = slab.getFirstUnit() >= 1 && slab.getEndUnit() <= units;
      for (Replica wrong : fits ? bytes.mendable(one.extent(), slab) : List.<Replica>of()) {
        if (roomy.stream().anyMatch(id -> mayReplace(id, wrong, slab))) {
          return "wrong bytes of " + one + " in " + wrong + ": " + slab;
        }
      }
    }
    return "";
  }

  /** Whether {@code server}, where there is room, may have a replica instead of another one. */
  private static boolean mayReplace(int server, Replica replica, Slab slab) {
    return server == replica.getServer()
        || slab.getReplicasList().stream().noneMatch(each -> each.getServer() == server);
  }

  /** Replicas of slabs at a server. */
  long replicasAt(int server) {
    checkRecords();
    return records.slabs().values().stream()
        .flatMap(slab -> slab.getReplicasList().stream())
        .filter(replica -> replica.getServer() == server)
        .count();
  }

  /** Files whose data is to move to slabs with another number of copies. */
  int filesToMove() {
    return StateRecords.filesToMove(store);
  }

  // ---- slabs ------------------------------------------------------------------------------------

  /** S6: replicas change with the version, and never get fewer. */
  private void checkSlabs(Map<Long, Slab> slabs) {
    Set<List<Integer>> places = new HashSet<>();
    for (Slab slab : slabs.values()) {
      Slab before = records == null ? null : records.slabs().get(slab.getId());
      for (Replica replica : slab.getReplicasList()) {
        List<Integer> place = List.of(replica.getServer(), replica.getArena(), replica.getIndex());
        check(places.add(place), () -> "two slabs are at " + place, slab);
      }
      if (before != null && !before.getReplicasList().equals(slab.getReplicasList())) {
        check(slab.getVersion() > before.getVersion(), () -> "other replicas of a version", slab);
        check(slab.getReplicasCount() >= before.getReplicasCount(), () -> "fewer replicas", slab);
      }
      check(before == null || slab.getVersion() >= before.getVersion(), () -> "an older one", slab);
    }
  }

  /** I22: one file has a committed extent, and the index of its slab names it. */
  private static void checkIndex(StateRecords now) {
    Map<SlabPlace, StateRecords.Committed> byPlace = new HashMap<>();
    now.committed()
        .forEach(
            one ->
                byPlace.put(
                    new SlabPlace(one.extent().range().slab(), one.extent().range().unit()), one));
    for (StateRecords.Indexed indexed : now.indexed()) {
      StateRecords.Committed one = byPlace.get(new SlabPlace(indexed.slab(), indexed.unit()));
      check(
          one != null
              && one.file() == indexed.file()
              && one.extent().fileOffset() == indexed.offset(),
          () -> "the index has another owner than " + one,
          now.slabs().get(indexed.slab()));
    }
    if (now.indexed().size() != now.committed().size()) {
      throw new AssertionError(
          now.committed().size() + " extents, " + now.indexed().size() + " in the index");
    }
  }

  /** The first unit of an extent. */
  private record SlabPlace(long slab, int unit) {}

  static void check(boolean holds, Supplier<String> what, Slab slab) {
    if (!holds) {
      throw new AssertionError(what.get() + ": " + slab);
    }
  }
}
