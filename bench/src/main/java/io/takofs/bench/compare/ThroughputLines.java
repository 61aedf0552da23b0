package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.Path;

/** Eight threads at once. */
final class ThroughputLines {
  private static final int THREADS = 8;

  private ThroughputLines() {}

  static List<Line> all() {
    return List.of(
        new Parallel("8-thread create", 250) {
          @Override
          void operation(Candidate candidate, int thread, int number) throws IOException {
            candidate.fs().create(file(candidate, thread, number)).close();
          }
        },
        new Parallel("8-thread stat", 2000) {
          @Override
          public void prepare(Candidate candidate, int round) throws Exception {
            super.prepare(candidate, round);
            for (int thread = 0; thread < THREADS; thread++) {
              candidate.fs().create(file(candidate, thread, 0)).close();
            }
          }

          @Override
          void operation(Candidate candidate, int thread, int number) throws IOException {
            candidate.fs().getFileStatus(file(candidate, thread, 0));
          }
        });
  }

  private abstract static class Parallel implements Line {
    private final String name;
    private final int perThread;

    Parallel(String name, int perThread) {
      this.name = name;
      this.perThread = perThread;
    }

    abstract void operation(Candidate candidate, int thread, int number) throws IOException;

    static Path file(Candidate candidate, int thread, int number) {
      return new Path(candidate.base(), "t" + thread + "/f" + number);
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
    public void prepare(Candidate candidate, int round) throws Exception {
      for (int thread = 0; thread < THREADS; thread++) {
        candidate.fs().mkdirs(new Path(candidate.base(), "t" + thread));
      }
    }

    @Override
    public void run(Candidate candidate, int round) throws Exception {
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
