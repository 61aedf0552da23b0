package io.takofs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that move bytes of the heap leave the others of a small JVM the memory that there is. */
class HeapPressureTest {
  private static final int MOVERS = 8;
  private static final int ALLOCATORS = 4;
  private static final int ARRAY = 200_000;
  private static final int KEPT = 64;
  private static final long LIMIT_S = 60;
  private static final long DURATION_NS = TimeUnit.SECONDS.toNanos(3);

  /** The program: says how often there was no memory. */
  static final class Program {
    private final AtomicLong failures = new AtomicLong();
    private final long end = System.nanoTime() + DURATION_NS;

    private Program() {}

    public static void main(String[] arguments) throws InterruptedException {
      new Program().run();
    }

    private void run() throws InterruptedException {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < MOVERS + ALLOCATORS; i++) {
        threads.add(new Thread(i < MOVERS ? this::move : this::allocate));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      System.out.println(
          "native: " + NativeLibrary.isAvailable() + ", out of memory " + failures + " times");
    }

    private void move() {
      int length = Granules.BATCH * Layout.GRANULE_SIZE;
      ByteBuffer mapped = ByteBuffer.allocateDirect(length);
      ByteBuffer array = ByteBuffer.allocate(length);
      int[] crcs = new int[Granules.BATCH];
      while (System.nanoTime() - end < 0) {
        Stores.copy(mapped, 0, array, 0, length);
        try (StableBytes stable = StableBytes.of(array, length)) {
          Granules.store(mapped, 0, stable.bytes(), 0, Granules.BATCH, crcs);
        }
        Granules.copy(array, 0, mapped, 0, Granules.BATCH, crcs);
      }
    }

    private void allocate() {
      byte[][] kept = new byte[KEPT][];
      for (int i = 0; System.nanoTime() - end < 0; i++) {
        try {
          kept[i % KEPT] = new byte[ARRAY];
        } catch (OutOfMemoryError e) {
          failures.incrementAndGet();
        }
      }
    }
  }

  @Test
  void shouldNotKeepTheCollectorFromRunning(@TempDir Path directory) throws Exception {
    Path output = directory.resolve("output");
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseG1GC",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(program.waitFor(LIMIT_S, TimeUnit.SECONDS)).as("it ends in time").isTrue();
    } finally {
      program.destroyForcibly();
    }
    assertThat(Files.readString(output)).endsWith("native: true, out of memory 0 times\n");
  }
}
