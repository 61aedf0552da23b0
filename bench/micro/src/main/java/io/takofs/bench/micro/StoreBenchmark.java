package io.takofs.bench.micro;

import io.takofs.base.TakoException;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** The cost of metadata operations: one map of {@value #KEYS} entries, like one large directory. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StoreBenchmark {
  private static final int KEYS = 100_000;
  private static final int SCANNED = 1000;
  private static final int VALUE_BYTES = 48;
  private static final long ZONE_BYTES = 64 << 20;

  private final Random random = new Random(1);
  private PageZone zone;
  private OrderedMap map;

  @Setup
  public void fill() throws IOException {
    zone = new PageZone(ZONE_BYTES);
    map = zone.store.shard(0);
    for (int i = 0; i < KEYS; i++) {
      map.put(key(i), new byte[VALUE_BYTES]);
    }
    zone.store.checkpoint(1);
  }

  @TearDown
  public void release() {
    zone.close();
  }

  private static byte[] key(int number) {
    byte[] key = new byte[24];
    ByteBuffer.wrap(key).put((byte) 'D').putLong(1).position(20).putInt(number);
    return key;
  }

  /** Each element of each path that is looked up is one of these. */
  @Benchmark
  public byte[] get() {
    return map.get(key(random.nextInt(KEYS)));
  }

  /**
   * Each record of each change is one of these; the first to a page since a checkpoint moves it.
   */
  @Benchmark
  public void putAndCommit() throws TakoException {
    Transaction tx = new Transaction(zone.store);
    tx.put(map, key(random.nextInt(KEYS)), new byte[VALUE_BYTES]);
    tx.commit(0);
  }

  /** A page of a listing. */
  @Benchmark
  public void scan1000(Blackhole sink) {
    int[] left = {SCANNED};
    map.scan(
        key(random.nextInt(KEYS - SCANNED)),
        (key, value) -> {
          sink.consume(value);
          return --left[0] > 0;
        });
  }
}
