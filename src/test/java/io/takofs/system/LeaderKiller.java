package io.takofs.system;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Kills the leader of a cluster's namespace again and again, and starts it again each time, while
 * something else goes on. It knows who leads from what the servers log, for there may be no class
 * of Tako on the class path.
 *
 * <p>Thread rule: any thread; it has one of its own.
 */
public final class LeaderKiller implements AutoCloseable {
  private static final Pattern LEADS =
      Pattern.compile("this server leads the namespace \\{.*\\bterm=(\\d+)");

  private final ServerCluster cluster;
  private final long everyNs;
  private final Path record;
  private final Thread thread = new Thread(this::run, "leader-killer");
  private volatile boolean stopped;

  private LeaderKiller(ServerCluster cluster, Duration every, Path record) {
    this.cluster = cluster;
    this.everyNs = every.toNanos();
    this.record = record;
    thread.setDaemon(true);
  }

  /**
   * Begins to kill.
   *
   * @param cluster whose servers nobody else kills
   * @param every from the moment at which one that was killed runs again to the next kill
   * @param record file that gets a line for each that was killed and runs again
   */
  public static LeaderKiller start(ServerCluster cluster, Duration every, Path record) {
    LeaderKiller killer = new LeaderKiller(cluster, every, record);
    killer.thread.start();
    return killer;
  }

  private void run() {
    try {
      while (pause()) {
        ServerProcess leader = leader();
        if (leader != null) {
          leader.kill();
          leader.restart();
          Files.writeString(record, Instant.now() + " " + leader.uri() + "\n", CREATE, APPEND);
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException("no leader is killed any more", e);
    }
  }

  /** Returns whether to go on. */
  private boolean pause() {
    long until = System.nanoTime() + everyNs;
    for (long left = everyNs; left > 0 && !stopped; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return !stopped;
  }

  /** The server that began to lead last; null when that has died since, or nobody did. */
  private ServerProcess leader() throws IOException {
    ServerProcess leader = null;
    long newest = 0;
    for (ServerProcess server : cluster.servers()) {
      Matcher line = LEADS.matcher(server.log());
      while (line.find()) {
        long term = Long.parseLong(line.group(1));
        if (term > newest) {
          newest = term;
          leader = server;
        }
      }
    }
    return leader;
  }

  /** Kills no more; all servers run, or a minute was too short for that. */
  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    try {
      thread.join(TimeUnit.MINUTES.toMillis(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
