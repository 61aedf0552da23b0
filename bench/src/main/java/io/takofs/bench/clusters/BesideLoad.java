package io.takofs.bench.clusters;

import io.takofs.base.Interrupts;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client that writes files with two copies and reads them, one after the other, until it is
 * closed.
 *
 * <p>Thread rule: any thread.
 */
final class BesideLoad implements AutoCloseable {
  private final RepairFiles files;
  private final Thread thread = new Thread(this::run, "beside");
  private volatile boolean stopped;
  private final AtomicLong moved = new AtomicLong(); // MiB
  private volatile Exception failure;

  /** A moment, and the MiB that were written or read until then. */
  record Moment(long nanoTime, long mebibytes) {
    /** MiB a second since {@code earlier}. */
    double since(Moment earlier) {
      return (mebibytes - earlier.mebibytes) * 1e9 / (nanoTime - earlier.nanoTime);
    }
  }

  /** Starts it. */
  BesideLoad(RepairFiles files) {
    this.files = files;
    thread.start();
  }

  private void run() {
    try {
      while (!stopped) {
        files.writeAndRead(moved::incrementAndGet);
      }
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
  }

  /**
   * Looks how far it is.
   *
   * @throws IllegalStateException when a write or a read has failed
   */
  Moment now() {
    if (failure != null) {
      throw new IllegalStateException("the client beside the repair failed", failure);
    }
    return new Moment(System.nanoTime(), moved.get());
  }

  /** Ends it after the present file. */
  @Override
  public void close() {
    stopped = true;
    Interrupts.join(thread);
    now();
  }
}
