package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.layout.Layout;
import io.takofs.proto.Slab;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Checks everything that must hold of the records of a store between two entries, reading nothing
 * but the records.
 */
final class Consistency {
  private final Harness server;
  private final Set<Long> toMove = new HashSet<>();
  private final Map<Long, Inode> inodes = new HashMap<>();
  private final Map<Long, Map<String, Inode>> children = new HashMap<>();
  private final Map<Long, Long> parents = new HashMap<>();
  private final Map<Long, NavigableMap<Long, FileExtent>> extents = new HashMap<>();
  private final Map<Long, Integer> inline = new HashMap<>();
  private final Map<Long, Lease> leases = new HashMap<>();
  private final Map<Long, byte[]> locations = new HashMap<>();
  private final Map<Long, Long> contents = new HashMap<>();
  private final Map<Long, Quota> quotas = new HashMap<>();
  private final Set<Long> counting = new HashSet<>();
  private final Map<Long, Long> grantedBytes = new HashMap<>();
  private final Map<Long, Boolean> detached = new HashMap<>();
  private final Set<Long> acls = new HashSet<>();
  private final Set<Long> xattrs = new HashSet<>();
  private final Set<Long> detachedXAttrs = new HashSet<>();
  private final Set<Long> sessions = new HashSet<>();
  private final Set<Long> resultClients = new HashSet<>();
  private final List<long[]> grants = new ArrayList<>();
  private final List<SlabRange> claimed = new ArrayList<>();
  private final Map<Long, Slab> slabs = new HashMap<>();
  private final Map<String, List<Long>> committed = new HashMap<>();
  private final Map<String, List<Long>> index = new HashMap<>();
  private final Set<Long> attached = new HashSet<>();

  private Consistency(Harness server) {
    this.server = server;
  }

  static void check(Harness server) {
    Consistency all = new Consistency(server);
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      int where = shard;
      server
          .store
          .shard(shard)
          .scan(
              new byte[0],
              (key, value) -> {
                all.readShard(where, key, value);
                return true;
              });
    }
    server
        .store
        .server()
        .scan(
            new byte[0],
            (key, value) -> {
              all.readServer(key, value);
              return true;
            });
    all.checkTree();
    all.checkQuotas();
    all.checkMoves();
    all.checkData();
    all.checkLeases();
    all.checkLocations();
    all.checkAttributes();
    all.checkSpace();
    all.checkRebuilt();
  }

  private void readShard(int shard, byte[] key, byte[] value) {
    long id = Keys.id(key);
    switch (key[0]) {
      case Keys.ENTRY -> {
        assertThat(shard).isEqualTo(Ids.contentShard(id));
        Inode inode = Inode.decode(value, null);
        assertThat(inode.encode()).isEqualTo(value);
        assertThat(inodes.put(inode.id, inode)).as("id %x twice", inode.id).isNull();
        parents.put(inode.id, id);
        children
            .computeIfAbsent(id, parent -> new HashMap<>())
            .put(new String(Keys.name(key), StandardCharsets.UTF_8), inode);
      }
      case Keys.CONTENTS -> {
        assertThat(shard).isEqualTo(Ids.contentShard(id));
        ByteReader in = new ByteReader(value);
        in.signed();
        contents.put(id, in.u64());
      }
      case Keys.EXTENT -> {
        assertThat(shard).isEqualTo(Ids.birthShard(id));
        FileExtent extent = FileExtent.decode(Keys.second(key), value);
        assertThat(extent.encode()).isEqualTo(value);
        extents.computeIfAbsent(id, file -> new TreeMap<>()).put(extent.fileOffset(), extent);
        claimed.add(extent.range());
        committed.put(
            extent.range().slab() + ":" + extent.range().unit(), List.of(id, extent.fileOffset()));
      }
      case Keys.INLINE -> inline.put(id, value.length);
      case Keys.LEASE -> leases.put(id, Lease.decode(id, value));
      case Keys.LOCATION -> {
        assertThat(shard).isEqualTo(Ids.birthShard(id));
        locations.put(id, value);
      }
      case Keys.ACL -> {
        assertThat(shard).isEqualTo(Ids.birthShard(id));
        acls.add(id);
      }
      case Keys.XATTR -> {
        assertThat(shard).isEqualTo(Ids.birthShard(id));
        xattrs.add(id);
      }
      default -> throw new AssertionError("a record of kind " + (char) key[0]);
    }
  }

  private void readServer(byte[] key, byte[] value) {
    switch (key[0]) {
      case Keys.SESSION -> sessions.add(Keys.id(key));
      case Keys.RESULT -> resultClients.add(Keys.id(key));
      case Keys.DETACHED -> {
        detached.put(Keys.id(key), (value[0] & 1) != 0);
        if ((value[0] & 4) != 0) {
          detachedXAttrs.add(Keys.id(key));
        }
      }
      case Keys.QUOTA -> {
        Quota quota = Quota.decode(Keys.id(key), value);
        assertThat(quota.encode()).isEqualTo(value);
        quotas.put(quota.id(), quota);
      }
      case Keys.QUOTA_COUNT -> counting.add(Keys.id(key));
      case Keys.FORMAT, 'T' -> {}
      case Keys.TO_MOVE -> toMove.add(Keys.id(key));
      case 'B' -> slabs.put(Keys.id(key), slab(value));
      case 'U' -> {
        ByteReader place = new ByteReader(key, 1);
        ByteReader in = new ByteReader(value);
        index.put(place.u64() + ":" + place.u8(), List.of(in.u64(), in.u64()));
      }
      case 'X' -> {
        ByteReader in = new ByteReader(value);
        boolean granted = in.u8() == 1;
        in.variable();
        ByteReader place = new ByteReader(key, 1);
        SlabRange location =
            new SlabRange(
                place.u64(), place.u8() * Layout.UNIT_SIZE, (int) in.variable() * Layout.UNIT_SIZE);
        claimed.add(location);
        long[] grant = {in.u64(), granted ? in.u64() : 0};
        if (granted && grant[0] != Grant.COPIER) {
          grants.add(grant);
          grantedBytes.merge(grant[1], (long) location.capacity(), Long::sum);
        }
      }
      default -> throw new AssertionError("a record of kind " + (char) key[0]);
    }
  }

  /** I19: a tree, and what is detached hangs on its own record. */
  private void checkTree() {
    assertThat(parents.get(Ids.ROOT)).isEqualTo(Ids.ROOT_PARENT);
    visit(Ids.ROOT, 0);
    Set<Long> reachable = new HashSet<>(attached);
    attached.clear();
    detached.forEach(
        (id, directory) -> {
          assertThat(inodes).doesNotContainKey(id);
          if (directory) {
            visit(id, 0);
          }
        });
    reachable.addAll(attached);
    reachable.removeAll(detached.keySet());
    assertThat(reachable).as("entries that hang on something").isEqualTo(inodes.keySet());
    for (long id : contents.keySet()) {
      Inode inode = inodes.get(id);
      assertThat(inode == null ? detached.get(id) : inode.directory)
          .as("contents of %x", id)
          .isEqualTo(true);
    }
  }

  private void visit(long directory, int depth) {
    assertThat(depth).as("a cycle").isLessThan(2000);
    assertThat(attached.add(directory)).as("%x is reached twice", directory).isTrue();
    for (Inode child : children.getOrDefault(directory, Map.of()).values()) {
      if (child.directory) {
        visit(child.id, depth + 1);
      } else {
        assertThat(attached.add(child.id)).isTrue();
      }
    }
  }

  /** What is to be moved is there, and counted. */
  private void checkMoves() {
    assertThat(inodes.keySet()).containsAll(toMove);
    assertThat(server.machine.moves().files()).isEqualTo(toMove.size());
  }

  /** Extents are contiguous from 0 on, and inline bytes follow them to the file's length. */
  private void checkData() {
    for (Inode inode : inodes.values()) {
      NavigableMap<Long, FileExtent> ofFile = extents.remove(inode.id);
      Integer ofInline = inline.remove(inode.id);
      assertThat(inode.hasExtents()).isEqualTo(ofFile != null);
      assertThat(ofInline == null ? 0 : ofInline).isEqualTo(inode.inlineLength);
      if (ofFile != null) {
        long end = 0;
        for (FileExtent extent : ofFile.values()) {
          assertThat(extent.fileOffset()).isEqualTo(end);
          assertThat(extent.length()).isBetween(1, extent.range().capacity());
          end = extent.end();
        }
        assertThat(end).isEqualTo(inode.extentsLength());
      }
    }
    // The rest is of files that are being reclaimed.
    extents.keySet().forEach(id -> assertThat(detached.get(id)).as("file %x", id).isFalse());
    inline.keySet().forEach(id -> assertThat(detached.get(id)).as("file %x", id).isFalse());
  }

  private void checkLeases() {
    for (Inode inode : inodes.values()) {
      assertThat(leases.containsKey(inode.id)).isEqualTo(inode.open);
    }
    for (Lease lease : leases.values()) {
      String name = new String(lease.name(), StandardCharsets.UTF_8);
      assertThat(children.get(lease.parentId()).get(name).id).isEqualTo(lease.fileId());
      assertThat(sessions).contains(lease.clientId());
    }
    for (long[] grant : grants) {
      assertThat(leases.get(grant[1]).clientId()).isEqualTo(grant[0]);
    }
    assertThat(sessions).containsAll(resultClients);
  }

  /** The usage of a quota is the sum of its files and of those deleted from it. */
  private void checkQuotas() {
    contents.forEach(
        (id, parent) -> {
          if (!detached.containsKey(id)) {
            assertThat(parent).as("parent of %x", id).isEqualTo(parents.get(id));
          }
        });
    Map<Long, long[]> found = new HashMap<>();
    quotas.keySet().forEach(id -> found.put(id, new long[3]));
    for (Inode inode : inodes.values()) {
      long space = space(inode);
      for (long at = inode.id; at != Ids.ROOT_PARENT; at = above(at)) {
        if (found.containsKey(at)) {
          found.get(at)[0]++;
          found.get(at)[1] += space;
        }
      }
    }
    detached.forEach(
        (id, directory) -> {
          long[] charged = found.get(directory ? contents.getOrDefault(id, 0L) : 0L);
          if (charged != null) {
            charged[2]++;
          }
        });
    for (Quota quota : quotas.values()) {
      assertThat(inodes).containsKey(quota.id());
      assertThat(counting.contains(quota.id())).isEqualTo(quota.counting());
      if (!quota.counting()) {
        assertThat(new long[] {quota.names(), quota.space(), quota.detached()})
            .as("names, space and detached of %s", quota)
            .isEqualTo(found.get(quota.id()));
      }
    }
    assertThat(quotas.keySet()).containsAll(counting);
  }

  private long above(long id) {
    return parents.containsKey(id) ? parents.get(id) : contents.getOrDefault(id, 0L);
  }

  private long space(Inode inode) {
    long bytes = inode.length;
    if (inode.open) {
      bytes += grantedBytes.getOrDefault(inode.id, 0L);
      NavigableMap<Long, FileExtent> ofFile = extents.get(inode.id);
      FileExtent last = ofFile == null ? null : ofFile.lastEntry().getValue();
      bytes += last != null && last.canGrow() ? last.range().capacity() - last.length() : 0;
    }
    return bytes * inode.replication;
  }

  /** An inode has the flag if and only if it has a record. */
  private void checkAttributes() {
    for (Inode inode : inodes.values()) {
      assertThat(acls.remove(inode.id)).isEqualTo(inode.hasAcl);
      assertThat(xattrs.remove(inode.id)).isEqualTo(inode.hasXAttrs);
    }
    assertThat(acls).isEmpty();
    assertThat(detachedXAttrs).containsAll(xattrs);
  }

  /** A file that was renamed, and no other, is where its location record says. */
  private void checkLocations() {
    for (Inode inode : inodes.values()) {
      byte[] location = locations.remove(inode.id);
      assertThat(location != null).as("location of %x", inode.id).isEqualTo(inode.moved);
      if (location != null) {
        ByteReader in = new ByteReader(location);
        long parent = in.u64();
        String name = new String(in.rest(), StandardCharsets.UTF_8);
        assertThat(children.get(parent).get(name).id).isEqualTo(inode.id);
      }
    }
    assertThat(locations).isEmpty();
  }

  private static Slab slab(byte[] value) {
    try {
      return Slab.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  /** I22: no unit belongs to two; what nobody claims is free. The index names every extent. */
  private void checkSpace() {
    Map<Long, BitSet> used = new HashMap<>();
    long free = slabs.values().stream().mapToLong(s -> s.getEndUnit() - s.getFirstUnit()).sum();
    for (SlabRange range : claimed) {
      BitSet units = used.computeIfAbsent(range.slab(), id -> new BitSet());
      int end = range.unit() + range.capacity() / Layout.UNIT_SIZE;
      assertThat(range.unit()).isGreaterThanOrEqualTo(slabs.get(range.slab()).getFirstUnit());
      assertThat(end).isLessThanOrEqualTo(slabs.get(range.slab()).getEndUnit());
      assertThat(units.get(range.unit(), end).isEmpty()).as("%s is claimed twice", range).isTrue();
      units.set(range.unit(), end);
      free -= end - range.unit();
    }
    assertThat(server.machine.usage().getFree()).isEqualTo(free * Layout.UNIT_SIZE);
    assertThat(index).isEqualTo(committed);
    checkSummary(used);
  }

  /** The summary, which a start reads, says the same as all records. */
  private void checkSummary(Map<Long, BitSet> used) {
    server.store.checkpoint(server.log.size());
    Map<Long, BitSet> summed = new HashMap<>();
    server
        .store
        .summary()
        .scan(
            new byte[0],
            (key, value) -> {
              if (key[0] == 'B') {
                summed.put(Keys.id(key), BitSet.valueOf(value));
              }
              return true;
            });
    assertThat(summed).isEqualTo(used);
  }

  /** The state in the heap equals the state after a restart. */
  private void checkRebuilt() {
    StateMachine rebuilt = new StateMachine(server.store);
    assertThat(rebuilt.usage()).isEqualTo(server.machine.usage());
    assertThat(rebuilt.extents()).isEqualTo(server.machine.extents());
    assertThat(rebuilt.sessions()).isEqualTo(server.machine.sessions());
    assertThat(rebuilt.leases()).isEqualTo(server.machine.leases());
    assertThat(rebuilt.files()).isEqualTo(server.machine.files());
    assertThat(rebuilt.directories()).isEqualTo(server.machine.directories());
    long directories = inodes.values().stream().filter(inode -> inode.directory).count();
    assertThat(server.machine.directories()).isEqualTo(directories);
    assertThat(server.machine.files()).isEqualTo(inodes.size() - directories);
  }
}
