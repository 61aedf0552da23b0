package io.takofs.server;

import java.util.concurrent.ExecutorService;

/**
 * Threads that ask for the groups of users. Each may have a process under way, and anybody may name
 * any user, so there are few of them: what comes beyond waits, and its caller's deadline runs.
 */
final class LookupThreads {
  static final int THREADS_MAX = 4;

  /** Calls that wait at most; further ones are rejected. */
  private static final int WAITING_MAX = 4096;

  private LookupThreads() {}

  static ExecutorService create() {
    return DaemonThreads.create("tako-groups", THREADS_MAX, WAITING_MAX);
  }
}
