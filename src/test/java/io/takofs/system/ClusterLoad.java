package io.takofs.system;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;

/**
 * Mixed loads of several clients at once, and the longest that any operation of theirs took.
 *
 * <p>Thread rule: one thread.
 */
final class ClusterLoad implements AutoCloseable {
  /** As long as a server may take to start on a machine that is busy with other tests. */
  private static final String LIMIT = "180s";

  private static final long PACE_NS = Duration.ofMillis(20).toNanos();

  private final Connector connector;
  private final List<String> transports;
  private final List<TakoClient> clients = new ArrayList<>();
  private final List<MixedLoad> loads = new ArrayList<>();
  private final List<Future<?>> running = new ArrayList<>();
  private final ExecutorService threads;
  private final List<AtomicLong> longestNs = new ArrayList<>(); // a client
  private final ReadWriteLock pause = new ReentrantReadWriteLock(true);
  private volatile boolean stop;

  /** How clients are made; see {@link Clients#connect(URI, String, String...)}. */
  @FunctionalInterface
  interface Connector {
    TakoClient connect(String transport, String... keysAndValues) throws IOException;
  }

  /**
   * A client for each of {@code transports}; the files of each have one of {@code copies} replicas.
   */
  ClusterLoad(URI uri, List<String> transports, List<Integer> copies, Random random)
      throws IOException {
    this((transport, more) -> connect(uri, transport, more), transports, copies, random);
  }

  /** Likewise, of clients that {@code connector} makes. */
  ClusterLoad(Connector connector, List<String> transports, List<Integer> copies, Random random)
      throws IOException {
    this.connector = connector;
    this.transports = List.copyOf(transports);
    this.threads = Executors.newFixedThreadPool(transports.size());
    for (String transport : transports) {
      String wanted = copies.get(loads.size() % copies.size()).toString();
      TakoClient client = connector.connect(transport, "fs.tako.replication", wanted);
      clients.add(client);
      MixedLoad load = new MixedLoad(client, "/load" + loads.size(), random.nextLong());
      loads.add(load);
      AtomicLong longest = new AtomicLong();
      longestNs.add(longest);
      running.add(threads.submit(() -> work(load, longest)));
    }
  }

  /** A client that waits for servers that start. */
  static TakoClient connect(URI uri, String transport, String... keysAndValues) throws IOException {
    return Clients.connect(uri, transport, settings(keysAndValues));
  }

  /** Of a client that waits for servers that start. */
  static String[] settings(String... keysAndValues) {
    List<String> all = new ArrayList<>(List.of(keysAndValues));
    all.addAll(List.of("fs.tako.client.timeout", LIMIT, "fs.tako.client.connect.timeout", LIMIT));
    return all.toArray(String[]::new);
  }

  private Void work(MixedLoad load, AtomicLong longest) throws IOException {
    while (!stop) {
      pause.readLock().lock();
      try {
        long before = System.nanoTime();
        load.step();
        longest.accumulateAndGet(System.nanoTime() - before, Math::max);
      } finally {
        pause.readLock().unlock();
      }
      pause();
    }
    return null;
  }

  /** Servers that start need the processors, too. */
  private static void pause() {
    long until = System.nanoTime() + PACE_NS;
    for (long left = PACE_NS; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left); // it returns at once when the client woke the thread in vain
    }
  }

  /** Until all loads together have done {@code operations} more; fails when one of them failed. */
  void letThemWork(int operations) throws Exception {
    letThemWork(loads, running, operations);
  }

  /** As {@link #letThemWork(int)}, of the loads that {@code running} run. */
  static void letThemWork(List<MixedLoad> loads, List<Future<?>> running, int operations)
      throws Exception {
    long target = total(loads) + operations;
    Poll.until(
        operations + " more operations",
        Duration.ofMinutes(4),
        () -> {
          checkRunning(running);
          return total(loads) >= target;
        });
  }

  private static void checkRunning(List<Future<?>> running) throws Exception {
    for (Future<?> one : running) {
      if (one.isDone()) {
        one.get();
      }
    }
  }

  /** Until each load has begun and ended another operation; fails when one of them failed. */
  void letAllGoOn(Duration limit) throws Exception {
    List<Long> targets = loads.stream().map(load -> load.operations() + 2).toList();
    Poll.until(
        "all clients go on",
        limit,
        () -> {
          checkRunning(running);
          return IntStream.range(0, loads.size())
              .allMatch(i -> loads.get(i).operations() >= targets.get(i));
        });
  }

  /** The longest that an operation has taken since this was called last, milliseconds. */
  long takeLongestMs() {
    return takeLongestOfEachMs().stream().mapToLong(Long::longValue).max().orElseThrow();
  }

  /** Likewise, of each client. */
  List<Long> takeLongestOfEachMs() {
    return longestNs.stream()
        .map(longest -> TimeUnit.NANOSECONDS.toMillis(longest.getAndSet(0)))
        .toList();
  }

  /** How many operations there were. */
  long operations() {
    return total(loads);
  }

  private static long total(List<MixedLoad> loads) {
    return loads.stream().mapToLong(MixedLoad::operations).sum();
  }

  /** Ends the loads; fails when one of them failed. */
  void stop() throws Exception {
    stop = true;
    for (Future<?> one : running) {
      one.get(3, TimeUnit.MINUTES);
    }
  }

  /** Between two operations, compares all that must be there with what new clients see. */
  void verify() throws Exception {
    pause.writeLock().lock();
    try {
      for (String transport : transports.stream().distinct().toList()) {
        try (TakoClient reader = connector.connect(transport)) {
          for (MixedLoad load : loads) {
            load.verifyAll(reader);
          }
        }
      }
    } finally {
      pause.writeLock().unlock();
    }
  }

  /** What a check of the whole file system must have counted, after {@link #stop}. */
  String counts() {
    long files = loads.stream().mapToLong(MixedLoad::files).sum();
    long directories = 1 + loads.stream().mapToLong(load -> 1 + load.directories()).sum();
    return directories + " directories, " + files + " files, ";
  }

  /** Deletes everything, after {@link #stop}, and sees that nothing is left. */
  void clean() throws Exception {
    clients.forEach(TakoClient::close);
    clients.clear();
    try (TakoClient client = connector.connect(transports.get(0))) {
      Clients.checkNothingLeaks(client);
    }
  }

  @Override
  public void close() {
    stop = true;
    threads.shutdownNow();
    clients.forEach(TakoClient::close);
  }
}
