package io.takofs.client.internal.session;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection on which a session is open.
 *
 * <p>Thread rule: any thread.
 */
public final class OpenSession implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenSession.class);

  private final ServerConnection connection;
  private final SessionIdentity identity;
  private volatile SessionTerms terms;
  private final Object opening = new Object();
  private volatile DataZone zone;
  private final CallsUnderWay waiting = new CallsUnderWay();
  private volatile long seenNs; // the session was at the server then

  /**
   * A session that the server has just opened or resumed.
   *
   * @param askedNs when it was asked to, by the client's clock
   */
  OpenSession(
      ServerConnection connection, SessionIdentity identity, SessionTerms terms, long askedNs) {
    this.connection = connection;
    this.identity = identity;
    this.terms = terms;
    this.seenNs = askedNs;
  }

  ServerConnection connection() {
    return connection;
  }

  /** The calls that are under way, where somebody looks after them. */
  CallsUnderWay waiting() {
    return waiting;
  }

  public SessionIdentity identity() {
    return identity;
  }

  /** The answer to a call that was sent at {@code sentNs} shows that the session was here. */
  void seen(long sentNs) {
    seenNs = sentNs;
  }

  /**
   * Whether the session may be about to end, or have ended, because another server leads and has
   * not seen the client: nothing has shown for half of a session's life that it is still here.
   */
  boolean isInDoubt(long nowNs) {
    return nowNs - seenNs > TimeUnit.MILLISECONDS.toNanos(terms.getSessionTtlMs()) / 2;
  }

  /** The session's terms, as the server gave them last on this connection. */
  public SessionTerms terms() {
    return terms;
  }

  /** The server has given other terms. */
  void take(SessionTerms now) {
    terms = now;
  }

  /** The data zone, opened when it is first wanted and when it broke. */
  public DataZone zone(long deadlineNs) throws TakoException {
    DataZone opened = zone;
    if (opened == null || !opened.isOpen()) {
      synchronized (opening) {
        opened = zone;
        if (opened == null || !opened.isOpen()) {
          opened = openZone(deadlineNs);
          zone = opened;
        }
      }
    }
    return opened;
  }

  /** The data zone if it is open, else null. */
  DataZone openZone() {
    DataZone opened = zone;
    return opened != null && opened.isOpen() ? opened : null;
  }

  private DataZone openZone(long deadlineNs) throws TakoException {
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff(); // it would end the attempt, and each further one
      return connection.openZone(terms, deadlineNs);
    } catch (TakoException e) {
      if (e.status() != Status.NOT_LEADER) {
        throw e;
      }
      close(); // the session is resumed elsewhere by the next connection, and this is tried again
      throw new TakoException(Status.DISCONNECTED, e.getMessage(), e);
    } catch (UncheckedIOException e) {
      // Memory or another resource of the machine is short, which may end.
      throw new TakoException(Status.UNAVAILABLE, e.getMessage(), e);
    }
  }

  /** Notes a failure that nobody waits for. */
  void failed(TakoException why) {
    LOG.debug("session {}: {}", Long.toHexString(identity.clientId()), why.getMessage());
  }

  /** Ends this and returns the data zone, which is another's from now on; null for none. */
  DataZone leave() {
    connection.leave(); // which opens no zone any more
    synchronized (opening) {
      return openZone();
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
