package io.takofs.rpc;

import java.util.concurrent.TimeUnit;

/** How long a server that knows no leader keeps a call for a session, for the next leader. */
public final class LeaderWait {
  /** Nanoseconds at most; a client waits for longer for the answer. */
  public static final long NS = TimeUnit.MILLISECONDS.toNanos(500);

  private LeaderWait() {}
}
