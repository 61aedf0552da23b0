package io.takofs.server.catalog;

import io.takofs.base.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The clock of whoever keeps a directory: the time that a file there has when it was just written.
 * All servers that share the directory have the same time by it, whatever their own clocks say. The
 * file is written once a minute; in between the time goes on with the machine's monotonic clock.
 * While there is no directory, or it cannot be written, the time is the machine's.
 *
 * <p>Thread rule: any thread that may wait for the directory.
 */
public final class DirectoryClock implements Clock {
  private static final long KEPT_NS = Duration.ofMinutes(1).toNanos();

  private final Path file;
  private final Clock machine;
  private Reading last; // null before the first

  private record Reading(long timeMs, long ns) {}

  /**
   * @param directory that servers share
   */
  public DirectoryClock(Path directory, Clock machine) {
    this.file = directory.resolve("time");
    this.machine = machine;
  }

  @Override
  public synchronized long currentTimeMillis() {
    long now = machine.nanoTime();
    if (last == null || now - last.ns >= KEPT_NS) {
      try {
        last = new Reading(written(), machine.nanoTime());
      } catch (IOException e) {
        if (last == null) {
          return machine.currentTimeMillis();
        }
      }
    }
    return last.timeMs + (machine.nanoTime() - last.ns) / 1_000_000;
  }

  private long written() throws IOException {
    try (FileChannel channel = CatalogFile.open(file)) {
      channel.write(ByteBuffer.allocate(1), 0);
      channel.force(true);
    }
    return Files.getLastModifiedTime(file).toMillis();
  }

  @Override
  public long nanoTime() {
    return machine.nanoTime();
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    machine.parkNanos(blocker, nanos);
  }
}
