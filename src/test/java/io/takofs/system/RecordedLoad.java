package io.takofs.system;

import io.takofs.client.TakoClient;
import io.takofs.history.HistoryRecorder;
import java.io.IOException;
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

/**
 * Several clients that do at random, in a few paths and at the same time, what can be recorded.
 *
 * <p>Thread rule: one thread.
 */
final class RecordedLoad implements AutoCloseable {
  /** Paths of one group are renamed to each other. */
  private static final int GROUPS = 6;

  private static final int PATHS = 3;

  /** Two calls of a client are at most so far from each other: servers that start need room. */
  private static final long PACE_NS_MAX = TimeUnit.MILLISECONDS.toNanos(20);

  private static final int SMALL_BYTES_MAX = 1_000; // beside the metadata
  private static final int LARGE_BYTES_MIN = 6_000; // in extents

  private final HistoryRecorder recorder;
  private final String home;
  private final AtomicLong contents = new AtomicLong();
  private final List<Future<?>> running = new ArrayList<>();
  private final ExecutorService threads;
  private final List<String> used = new ArrayList<>();
  private volatile List<List<String>> groups = List.of();
  private volatile boolean hurry;
  private volatile boolean stop;

  /**
   * Each of {@code clients} gets a thread.
   *
   * @param home directory of all paths, which is there; or the empty string, for the root
   * @param patience of calls, none of which may fail earlier because of a server
   */
  RecordedLoad(
      List<TakoClient> clients,
      HistoryRecorder recorder,
      Random random,
      String home,
      Duration patience) {
    this.recorder = recorder;
    this.home = home;
    this.threads = Executors.newFixedThreadPool(clients.size());
    useNewPaths();
    for (int process = 0; process < clients.size(); process++) {
      RecordedCalls calls = new RecordedCalls(clients.get(process), recorder, process, patience);
      Random own = new Random(random.nextLong());
      running.add(threads.submit(() -> work(calls, own)));
    }
  }

  /**
   * From now on the clients work in other paths. How long it takes to check a history follows from
   * how many calls it has whose outcome is unknown, in paths that renames connect.
   */
  void useNewPaths() {
    List<List<String>> next = new ArrayList<>();
    for (int group = 0; group < GROUPS; group++) {
      List<String> paths = new ArrayList<>();
      for (int path = 0; path < PATHS; path++) {
        paths.add(home + "/recorded-" + used.size());
        used.add(paths.get(path));
      }
      next.add(paths);
    }
    groups = next;
  }

  /** Whether each client makes a call as soon as the one before has ended. */
  void hurry(boolean yes) {
    hurry = yes;
  }

  /** All paths that there ever were. */
  List<String> paths() {
    return used;
  }

  private Void work(RecordedCalls calls, Random random) throws IOException {
    while (!stop) {
      step(calls, random);
      pause(hurry ? 0 : (long) (random.nextDouble() * PACE_NS_MAX));
    }
    return null;
  }

  private void step(RecordedCalls calls, Random random) throws IOException {
    List<String> group = groups.get(random.nextInt(GROUPS));
    int index = random.nextInt(PATHS);
    String path = group.get(index);
    int choice = random.nextInt(100);
    if (choice < 35) {
      boolean isOpenForAWhile = random.nextInt(4) == 0;
      long content = contents.incrementAndGet();
      calls.create(
          path,
          random.nextBoolean(),
          content,
          length(content, random),
          () -> pause(isOpenForAWhile ? PACE_NS_MAX : 0));
    } else if (choice < 50) {
      String target = group.get((index + 1 + random.nextInt(PATHS - 1)) % PATHS);
      calls.rename(path, target, random.nextBoolean());
    } else if (choice < 60) {
      calls.delete(path);
    } else if (choice < 75) {
      calls.stat(path);
    } else {
      calls.read(path);
    }
  }

  /** Mostly one that few others have, so that it says more. */
  private static int length(long content, Random random) {
    int small = RecordedContent.LENGTH_MIN + (int) (content % SMALL_BYTES_MAX);
    return random.nextInt(4) == 0 ? LARGE_BYTES_MIN + small : small;
  }

  private static void pause(long pauseNs) {
    long until = System.nanoTime() + pauseNs;
    for (long left = pauseNs; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left); // it returns at once when the client woke the thread in vain
    }
  }

  /** Until so many more operations have begun and ended; fails when a client failed. */
  void letThemWork(int operations, Duration limit) throws Exception {
    long target = ended() + operations;
    Poll.until(
        operations + " more operations",
        limit,
        () -> {
          for (Future<?> one : running) {
            if (one.isDone()) {
              one.get();
            }
          }
          return ended() >= target;
        });
  }

  private long ended() {
    return recorder.operations() - recorder.unknown();
  }

  /** Ends the load; fails when a client failed. */
  void stop() throws Exception {
    stop = true;
    for (Future<?> one : running) {
      one.get(3, TimeUnit.MINUTES);
    }
  }

  @Override
  public void close() {
    stop = true;
    threads.shutdownNow();
  }
}
