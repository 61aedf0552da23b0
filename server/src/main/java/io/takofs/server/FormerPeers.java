package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a process that an earlier process of this server let map its pool still does, so that it
 * may store there: a client to file data, a former leader to the log. Once nobody does, nobody
 * will.
 *
 * <p>Thread rule: any thread.
 */
final class FormerPeers {
  private static final Logger LOG = LoggerFactory.getLogger(FormerPeers.class);

  /** Pause between two looks, which read files. */
  private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

  private final Path shm;
  private boolean there = true; // as of lookedNs
  private long lookedNs = Clock.SYSTEM.nanoTime() - LOOK_NS;

  /**
   * @param shm where they say that they are there
   */
  FormerPeers(Path shm) {
    this.shm = shm;
  }

  /**
   * Looks.
   *
   * @throws TakoException UNAVAILABLE when it cannot be told
   */
  boolean look() throws TakoException {
    try {
      return ShmTransport.hasFormerPeers(shm);
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE, shm + ": cannot tell who still maps the pool: " + e, e);
    }
  }

  /** As of a short while ago; true while it cannot be told. May be asked often. */
  synchronized boolean areThere() {
    long now = Clock.SYSTEM.nanoTime();
    if (there && now - lookedNs >= LOOK_NS) {
      lookedNs = now;
      try {
        there = look();
      } catch (TakoException e) {
        LOG.warn("{}; it is asked again", e.getMessage());
      }
    }
    return there;
  }
}
