package io.takofs.server.store;

import io.takofs.base.TakoException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/** A store in sorted maps of the heap, full after a number of records. */
public final class HeapStore implements Store {
  private final List<HeapMap> maps = new ArrayList<>();
  private final long recordsMax;
  private Summarizer summarizer = () -> {};

  /** Has room for {@code recordsMax} records. */
  public HeapStore(long recordsMax) {
    this.recordsMax = recordsMax;
    for (int map = 0; map <= SHARDS + 1; map++) {
      maps.add(new HeapMap());
    }
  }

  /** A map that checks what the real ones demand. */
  private static final class HeapMap implements OrderedMap {
    private final TreeMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    private boolean scanning;

    @Override
    public byte[] get(byte[] key) {
      byte[] value = records.get(key);
      return value == null ? null : value.clone();
    }

    @Override
    public void put(byte[] key, byte[] value) {
      checkChange(key);
      if (value.length > VALUE_MAX) {
        throw new IllegalArgumentException("a value of " + value.length + " bytes");
      }
      records.put(key.clone(), value.clone());
    }

    @Override
    public boolean remove(byte[] key) {
      checkChange(key);
      return records.remove(key) != null;
    }

    private void checkChange(byte[] key) {
      if (scanning) {
        throw new IllegalStateException("changed during a scan");
      }
      if (key.length > KEY_MAX) {
        throw new IllegalArgumentException("a key of " + key.length + " bytes");
      }
    }

    @Override
    public void scan(byte[] from, Visitor visitor) {
      boolean outer = scanning;
      scanning = true;
      try {
        for (var record : records.tailMap(from, true).entrySet()) {
          if (!visitor.visit(record.getKey().clone(), record.getValue().clone())) {
            return;
          }
        }
      } finally {
        scanning = outer;
      }
    }
  }

  @Override
  public OrderedMap shard(int shard) {
    return maps.get(shard);
  }

  @Override
  public OrderedMap server() {
    return maps.get(SHARDS);
  }

  @Override
  public OrderedMap summary() {
    return maps.get(SHARDS + 1);
  }

  @Override
  public void onCheckpoint(Summarizer summarize) {
    summarizer = summarize;
  }

  @Override
  public long checkpointIndex() {
    return 0;
  }

  @Override
  public void checkpoint(long index) {
    beginCheckpoint(index);
  }

  /** Keeps no other state than the present one, but writes its summary. */
  @Override
  public void beginCheckpoint(long index) {
    try {
      summarizer.run();
    } catch (TakoException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean advanceCheckpoint(int pages) {
    return true;
  }

  @Override
  public boolean checkpointDue() {
    return false;
  }

  @Override
  public boolean checkpointWanted() {
    return false;
  }

  @Override
  public boolean hasRoom(int changes) {
    return pagesUsed() + changes <= recordsMax;
  }

  @Override
  public long pagesUsed() {
    return maps.stream().limit(SHARDS + 1).mapToLong(map -> map.records.size()).sum();
  }

  @Override
  public long pagesTotal() {
    return recordsMax;
  }

  @Override
  public void close() {}
}
