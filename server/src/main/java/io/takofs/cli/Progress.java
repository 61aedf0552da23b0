package io.takofs.cli;

import io.takofs.server.report.Sizes;
import java.io.PrintStream;
import java.util.Locale;

/**
 * A bar on the terminal for copies that take long; prints nothing where there is no terminal.
 *
 * <p>Thread rule: one thread.
 */
final class Progress implements AutoCloseable {
  private static final long SHOW_AFTER_NS = 500_000_000L;
  private static final long REDRAW_NS = 100_000_000L;
  private static final int WIDTH = 40;

  private final PrintStream terminal;
  private final String what;
  private final long total;
  private final long start = System.nanoTime();
  private long done;
  private long drawn = start;
  private boolean visible;

  /** For {@code total} bytes of {@code what}. */
  Progress(String what, long total) {
    this(what, total, Boolean.getBoolean("tako.terminal") ? System.err : null);
  }

  Progress(String what, long total, PrintStream terminal) {
    this.what = what;
    this.total = total;
    this.terminal = terminal;
  }

  /** {@code bytes} more are done. */
  void add(long bytes) {
    done += bytes;
    long now = System.nanoTime();
    if (terminal != null && now - start > SHOW_AFTER_NS && now - drawn > REDRAW_NS) {
      draw(now);
    }
  }

  private void draw(long now) {
    drawn = now;
    visible = true;
    terminal.print("\r" + text((now - start) / 1e9));
    terminal.flush();
  }

  /** The line as it stands after {@code seconds}. */
  String text(double seconds) {
    int filled = total == 0 ? WIDTH : (int) Math.min(WIDTH, WIDTH * done / total);
    return String.format(
        Locale.ROOT,
        "%s [%s%s] %3d%% %s, %s/s",
        what,
        "#".repeat(filled),
        ".".repeat(WIDTH - filled),
        total == 0 ? 100 : 100 * done / total,
        Sizes.human(done),
        Sizes.human((long) (done / Math.max(seconds, 1e-3))));
  }

  @Override
  public void close() {
    if (visible) {
      draw(System.nanoTime());
      terminal.println();
    }
  }
}
