package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.Path;

/** Eight threads at once. */
final class ThroughputLines {
  private static final int THREADS = 8;

  private ThroughputLines() {}

  static List<Line> all() {
    return List.of(
        new Parallel("8-thread create", 1000) {
          @Override
          void operation(BenchCandidate candidate, int thread, int number) throws IOException {
            candidate.fs().create(file(thread, number)).close();
          }
        },
        new Parallel("8-thread stat", 10000) {
          @Override
          public void prepare(BenchCandidate candidate, int round) throws Exception {
            super.prepare(candidate, round);
            for (int thread = 0; thread < THREADS; thread++) {
              candidate.fs().create(file(thread, 0)).close();
            }
          }

          @Override
          void operation(BenchCandidate candidate, int thread, int number) throws IOException {
            candidate.fs().getFileStatus(file(thread, 0));
          }
        });
  }

  private abstract static class Parallel implements Line {
    private final String name;
    private final int perThread;

    /** Of the candidate that is prepared, by thread and number. */
    private final Path[][] files = new Path[THREADS][];

    Parallel(String name, int perThread) {
      this.name = name;
      this.perThread = perThread;
    }

    abstract void operation(BenchCandidate candidate, int thread, int number) throws IOException;

    /** Made before: taking a path apart costs the same for all candidates. */
    final Path file(int thread, int number) {
      return files[thread][number];
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Unit unit() {
      return Unit.OPERATIONS_PER_SECOND;
    }

    @Override
    public int batch() {
      return THREADS * perThread;
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      for (int thread = 0; thread < THREADS; thread++) {
        Path directory = new Path(candidate.base(), "t" + thread);
        candidate.fs().mkdirs(directory);
        files[thread] =
            IntStream.range(0, perThread)
                .mapToObj(number -> new Path(directory, "f" + number))
                .toArray(Path[]::new);
      }
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws Exception {
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      try {
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          int thread = t;
          running.add(
              threads.submit(
                  () -> {
                    for (int i = 0; i < perThread; i++) {
                      operation(candidate, thread, i);
                    }
                    return null;
                  }));
        }
        for (Future<?> one : running) {
          one.get();
        }
      } finally {
        threads.shutdownNow();
      }
    }
  }
}
