package io.takofs.server.store;

import io.takofs.base.TakoException;
import java.util.stream.IntStream;

/** A store that counts the records that are looked at. */
public final class CountingStore implements Store {
  private final Store store;
  private final OrderedMap[] maps;
  private long visited;

  /** Counts what is looked at in {@code store}. */
  public CountingStore(Store store) {
    this.store = store;
    this.maps =
        IntStream.rangeClosed(0, SHARDS + 1)
            .mapToObj(i -> new CountingMap(map(store, i)))
            .toArray(OrderedMap[]::new);
  }

  private static OrderedMap map(Store store, int i) {
    return i < SHARDS ? store.shard(i) : i == SHARDS ? store.server() : store.summary();
  }

  /** Records that were looked at. */
  public long visited() {
    return visited;
  }

  private final class CountingMap implements OrderedMap {
    private final OrderedMap map;

    CountingMap(OrderedMap map) {
      this.map = map;
    }

    @Override
    public byte[] get(byte[] key) {
      visited++;
      return map.get(key);
    }

    @Override
    public void put(byte[] key, byte[] value) throws TakoException {
      map.put(key, value);
    }

    @Override
    public boolean remove(byte[] key) {
      return map.remove(key);
    }

    @Override
    public void scan(byte[] from, Visitor visitor) {
      map.scan(
          from,
          (key, value) -> {
            visited++;
            return visitor.visit(key, value);
          });
    }
  }

  @Override
  public OrderedMap shard(int shard) {
    return maps[shard];
  }

  @Override
  public OrderedMap server() {
    return maps[SHARDS];
  }

  @Override
  public OrderedMap summary() {
    return maps[SHARDS + 1];
  }

  @Override
  public void onCheckpoint(Summarizer summarize) {
    store.onCheckpoint(summarize);
  }

  @Override
  public long checkpointIndex() {
    return store.checkpointIndex();
  }

  @Override
  public void checkpoint(long index) {
    store.checkpoint(index);
  }

  @Override
  public void beginCheckpoint(long index) {
    store.beginCheckpoint(index);
  }

  @Override
  public boolean advanceCheckpoint(int pages) {
    return store.advanceCheckpoint(pages);
  }

  @Override
  public boolean checkpointDue() {
    return store.checkpointDue();
  }

  @Override
  public boolean checkpointWanted() {
    return store.checkpointWanted();
  }

  @Override
  public boolean hasRoom(int changes) {
    return store.hasRoom(changes);
  }

  @Override
  public long pagesUsed() {
    return store.pagesUsed();
  }

  @Override
  public long pagesTotal() {
    return store.pagesTotal();
  }

  @Override
  public void close() {
    store.close();
  }
}
