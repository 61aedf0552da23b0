package io.takofs.server.slabs;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.FileHealth;
import io.takofs.server.extent.CommittedExtent;
import io.takofs.server.namespace.StateMachine;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How many files have bytes that nobody can read now: no server answers that has them, or the only
 * copy is wrong. {@code tako fsck} names the files.
 *
 * <p>Thread rule: the owner of the group.
 */
final class BadFiles {
  /** Slabs whose records one tick reads. */
  private static final int SLABS_MAX = 16;

  /** Extents with wrong bytes that are remembered at most. */
  private static final int CORRUPT_MAX = 1024;

  /** An extent whose only copy is wrong. */
  private record Corrupt(long slab, CommittedExtent extent) {}

  private final StateMachine machine;
  private final Map<Long, Set<Long>> unreadable = new HashMap<>(); // files by slab
  private final Map<Long, Integer> missing = new HashMap<>(); // their slabs by file
  private final Set<Corrupt> corrupt = new HashSet<>();
  private int looked;

  BadFiles(StateMachine machine) {
    this.machine = machine;
  }

  /** Another tick begins. */
  void tick() {
    looked = 0;
  }

  /** Whether a replica of {@code slab} can be read now. */
  void readable(long slab, boolean isReadable) {
    if (isReadable) {
      forget(slab);
    } else if (!unreadable.containsKey(slab) && looked < SLABS_MAX) {
      looked++;
      Set<Long> files =
          machine.extentsIn(slab).stream().map(CommittedExtent::fileId).collect(Collectors.toSet());
      unreadable.put(slab, files);
      files.forEach(file -> missing.merge(file, 1, Integer::sum));
    }
  }

  private void forget(long slab) {
    Set<Long> files = unreadable.remove(slab);
    if (files != null) {
      files.forEach(file -> missing.computeIfPresent(file, (id, n) -> n == 1 ? null : n - 1));
    }
  }

  /** The only copy of {@code extent}, which is committed, has wrong bytes. */
  void corrupt(Extent extent) {
    int unit = extent.getOffset() / Layout.UNIT_SIZE;
    for (CommittedExtent each : machine.extentsIn(extent.getSlab())) {
      if (each.unit() == unit && corrupt.size() < CORRUPT_MAX) {
        corrupt.add(new Corrupt(extent.getSlab(), each));
      }
    }
  }

  /** Forgets files and slabs that are gone. */
  void prune() {
    for (long slab : Set.copyOf(unreadable.keySet())) {
      if (machine.slabs().get(slab) == null) {
        forget(slab);
      }
    }
    corrupt.removeIf(each -> !machine.extentsIn(each.slab).contains(each.extent));
  }

  FileHealth health() {
    long files = corrupt.stream().map(each -> each.extent.fileId()).distinct().count();
    return FileHealth.newBuilder().setMissing(missing.size()).setCorrupt(files).build();
  }
}
