package io.takofs.sim.cluster;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.proto.Slab;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The slabs and extents of a leader's state at one moment.
 *
 * @param slabs by id
 * @param held extents that are granted or in quarantine
 * @param committed extents of files
 * @param indexed the extents that the index of slabs names
 * @param writers the clients that have a file open, by file
 */
record StateRecords(
    Map<Long, Slab> slabs,
    List<Held> held,
    List<Committed> committed,
    List<Indexed> indexed,
    Map<Long, Long> writers) {
  private static final int GRANTED = 1;

  /**
   * A record X.
   *
   * @param granted else in quarantine
   * @param client that may store there; 0 for none
   */
  record Held(long slab, int unit, int units, boolean granted, long client) {}

  /** A committed extent and its file. */
  record Committed(long file, FileExtent extent) {}

  /** A record U. */
  record Indexed(long slab, int unit, long file, long offset) {}

  /** The present records of {@code store}. */
  static StateRecords read(Store store) {
    StateRecords records =
        new StateRecords(
            new HashMap<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new HashMap<>());
    records.readServer(store);
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      records.readShard(store, shard);
    }
    return records;
  }

  private void readServer(Store store) {
    store
        .server()
        .scanPrefix(
            new byte[] {'B'},
            (key, value) -> {
              Slab slab = slab(value);
              slabs.put(slab.getId(), slab);
              return true;
            });
    store
        .server()
        .scanPrefix(
            new byte[] {'X'},
            (key, value) -> {
              ByteReader in = new ByteReader(value);
              boolean granted = in.u8() == GRANTED;
              in.variable(); // its generation
              int units = (int) in.variable();
              held.add(new Held(Keys.id(key), unit(key), units, granted, in.u64()));
              return true;
            });
    store
        .server()
        .scanPrefix(
            new byte[] {'U'},
            (key, value) -> {
              ByteReader in = new ByteReader(value);
              indexed.add(new Indexed(Keys.id(key), unit(key), in.u64(), in.u64()));
              return true;
            });
  }

  private static Slab slab(byte[] value) {
    try {
      return Slab.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError("no record of a slab", e);
    }
  }

  private static int unit(byte[] key) {
    return new ByteReader(key, 1 + Long.BYTES).u8();
  }

  private void readShard(Store store, int shard) {
    store
        .shard(shard)
        .scanPrefix(
            new byte[] {Keys.EXTENT},
            (key, value) -> {
              FileExtent extent = FileExtent.decode(Keys.second(key), value);
              committed.add(new Committed(Keys.id(key), extent));
              return true;
            });
    store
        .shard(shard)
        .scanPrefix(
            new byte[] {Keys.LEASE},
            (key, value) -> {
              writers.put(Keys.id(key), Lease.decode(Keys.id(key), value).clientId());
              return true;
            });
  }

  /** Files whose data is to move to slabs with another number of copies. */
  static int filesToMove(Store store) {
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
}
