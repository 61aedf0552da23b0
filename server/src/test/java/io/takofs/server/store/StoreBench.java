package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.function.IntConsumer;

/**
 * Measures the store: {@code StoreBench <directory on tmpfs> <zone bytes> <entries>}. Keys are a
 * type byte, a directory and a name of 20 bytes, values 100 bytes; a directory has 1000 entries.
 */
final class StoreBench {
  private static final byte[] TEMPLATE =
      "D........part-00000000.parque".getBytes(StandardCharsets.US_ASCII);
  private static final int VALUE = 100;
  private static final int PER_DIRECTORY = 1000;
  private static final int SAMPLE = 2_000_000;

  private final MappedMemory zone;
  private final int entries;
  private PagedStore store;
  private long sink;

  private StoreBench(MappedMemory zone, int entries) throws Exception {
    this.zone = zone;
    this.entries = entries;
    PagedStore.format(zone);
    store = PagedStore.open(zone);
  }

  public static void main(String[] args) throws Exception {
    Path file = Path.of(args[0], "bench-pages");
    Files.deleteIfExists(file);
    try (MappedMemory zone = MappedMemory.create(file, Long.parseLong(args[1]))) {
      for (boolean inOrder : new boolean[] {true, false}) {
        System.out.printf("%n== %s%n", inOrder ? "names in order" : "random order");
        new StoreBench(zone, Integer.parseInt(args[2])).run(inOrder);
      }
    } finally {
      Files.delete(file);
    }
  }

  private void run(boolean inOrder) throws Exception {
    Random random = new Random(1);
    int[] order = new int[entries];
    for (int i = 0; i < entries; i++) {
      order[i] = i;
    }
    for (int i = entries - 1; !inOrder && i > 0; i--) {
      int other = random.nextInt(i + 1);
      int swapped = order[i];
      order[i] = order[other];
      order[other] = swapped;
    }
    long[] checkpoints = {0, 0};
    time(
        "put",
        entries,
        i -> {
          put(order[i], i);
          if (store.checkpointDue()) {
            long start = cpuNanos();
            store.checkpoint(i);
            checkpoints[0]++;
            checkpoints[1] += cpuNanos() - start;
          }
        });
    System.out.printf("of that %d checkpoints, %.2f s%n", checkpoints[0], checkpoints[1] / 1e9);
    System.out.printf(
        "%.1f bytes an entry in %d pages%n",
        8192.0 * store.pagesUsed() / entries, store.pagesUsed());
    pause("checkpoint of the rest");
    time("get, random", SAMPLE, i -> get(random.nextInt(entries)));
    time("get, of 1000", SAMPLE, i -> get(random.nextInt(1000)));
    time("key alone", SAMPLE, i -> sink += key(random.nextInt(entries)).length);
    time("replace, random", SAMPLE / 10, i -> put(random.nextInt(entries), i));
    pause("checkpoint of 200000 random replaces");
    time("replace, random, copied", SAMPLE / 10, i -> put(random.nextInt(entries), i));
    long start = cpuNanos();
    store.beginCheckpoint(1);
    System.out.printf("freeze: %.3f ms%n", (cpuNanos() - start) / 1e6);
    long longest = 0;
    int pieces = 0;
    for (boolean done = false; !done; pieces++) {
      start = cpuNanos();
      done = store.advanceCheckpoint(1000);
      longest = Math.max(longest, cpuNanos() - start);
    }
    System.out.printf("%d pieces of 1000 pages, longest %.3f ms%n", pieces, longest / 1e6);
    start = cpuNanos();
    store = PagedStore.open(zone);
    System.out.printf("open: %.0f ms%n", (cpuNanos() - start) / 1e6);
    long[] seen = {0};
    time("scan of a shard's entries, 256 times", 1, i -> scan(seen));
    System.out.printf("scanned %d%n", seen[0]);
    time(
        "remove",
        entries,
        i -> {
          if (!map(order[i]).remove(key(order[i]))) {
            throw new IllegalStateException("entry " + order[i] + " is missing");
          }
          if (store.checkpointDue()) {
            store.checkpoint(i);
          }
        });
    System.out.printf("%d pages left%n", store.pagesUsed());
  }

  private void scan(long[] seen) {
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      store
          .shard(shard)
          .scan(
              new byte[0],
              (key, value) -> {
                seen[0]++;
                return true;
              });
    }
  }

  private void pause(String what) {
    long start = cpuNanos();
    store.checkpoint(1);
    System.out.printf("%s: %.0f ms%n", what, (cpuNanos() - start) / 1e6);
  }

  /** Time of this thread, not of what else the machine does. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void time(String what, int times, IntConsumer action) {
    long start = cpuNanos();
    for (int i = 0; i < times; i++) {
      action.accept(i);
    }
    double ns = cpuNanos() - start;
    System.out.printf("%s: %.2f s, %.0f ns each%n", what, ns / 1e9, ns / times);
  }

  private OrderedMap map(int entry) {
    long directory = directory(entry);
    return store.shard((int) ((directory * 0x9e3779b97f4a7c15L) >>> 56));
  }

  private static long directory(int entry) {
    return 1_000_000L + entry / PER_DIRECTORY;
  }

  private static byte[] key(int entry) {
    byte[] key = TEMPLATE.clone();
    ByteBuffer.wrap(key).putLong(1, directory(entry));
    int name = entry % PER_DIRECTORY;
    for (int at = 1 + 8 + 12; name > 0; at--, name /= 10) {
      key[at] = (byte) ('0' + name % 10);
    }
    return key;
  }

  private void put(int entry, int tag) {
    try {
      byte[] value = new byte[VALUE];
      ByteBuffer.wrap(value).putInt(tag);
      map(entry).put(key(entry), value);
    } catch (TakoException e) {
      throw new IllegalStateException(e);
    }
  }

  private void get(int entry) {
    if (map(entry).get(key(entry)) == null) {
      throw new IllegalStateException("entry " + entry + " is missing");
    }
  }
}
