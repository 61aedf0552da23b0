package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;

/**
 * The data zone for one open file, over whatever connection there is.
 *
 * <p>Thread rule: any thread.
 */
final class ZoneAccess {
  private final Session session;
  private final SessionIdentity owner;
  private final String operation;
  private final String path;

  /**
   * Access for one file.
   *
   * @param owner the session that may write, null for a reader
   */
  ZoneAccess(Session session, SessionIdentity owner, String operation, String path) {
    this.session = session;
    this.owner = owner;
    this.operation = operation;
    this.path = path;
  }

  /** The present zone, connecting when there is none. */
  DataZone zone() throws TakoException {
    Link link = session.link(operation, path);
    if (owner != null && owner != link.identity()) {
      throw new TakoException(
          Status.SESSION_EXPIRED,
          operation
              + " "
              + path
              + " on "
              + session.server()
              + ": the server ended the session that opened this file, and with it its lease; what"
              + " was flushed before is kept");
    }
    return link.zone(session.deadline());
  }

  /** The present zone, entered; only where it is mapped. */
  MappedZone enter() throws TakoException {
    long deadline = session.deadline();
    while (System.nanoTime() - deadline < 0) {
      if (zone() instanceof MappedZone mapped && mapped.enter()) {
        return mapped;
      }
    }
    throw new TakoException(
        Status.DEADLINE_EXCEEDED,
        operation + " " + path + " on " + session.server() + ": no connection to the data in time");
  }
}
