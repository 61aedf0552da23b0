package io.takofs.transport.select;

import io.netty.channel.ConnectTimeoutException;
import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.ConnectException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The other transports that a server offers beside tcp, asked for once and not before they matter.
 *
 * <p>Thread rule: one thread.
 */
final class Offers {
  private final TcpTransport tcp;
  private final String endpoint;
  private final long deadlineNs;
  private List<OfferedTransport> offers;

  /** Offers of the server whose tcp listener is at {@code endpoint}. */
  Offers(TcpTransport tcp, String endpoint, long deadlineNs) {
    this.tcp = tcp;
    this.endpoint = endpoint;
    this.deadlineNs = deadlineNs;
  }

  /** Nanoseconds until a connection must stand; never so few that trying makes no sense. */
  long left() {
    return Math.max(2, deadlineNs - System.nanoTime());
  }

  /**
   * Why {@code candidate} cannot be used; empty when it may be tried.
   *
   * @throws IOException when the server does not answer
   */
  Optional<String> obstacleTo(Candidate candidate) throws IOException {
    Optional<String> cause = candidate.unavailabilityCause();
    if (cause.isPresent()) {
      return cause;
    }
    if (offers == null) {
      offers = tcp.discover(endpoint, left());
    }
    Optional<String> obstacle = obstacleNow(candidate);
    if (obstacle.isPresent() && isOfThisHost(candidate)) {
      // A server that stops may have answered, and one that takes its place offers something else.
      List<OfferedTransport> asked = tcp.discover(endpoint, left());
      if (!asked.equals(offers)) {
        offers = asked;
        obstacle = obstacleNow(candidate);
      }
    }
    return obstacle;
  }

  private boolean isOfThisHost(Candidate candidate) throws IOException {
    Optional<OfferedTransport> offer = candidate.offerIn(offers);
    return offer.isPresent() && offer.get().host().equals(HostIdentity.local());
  }

  private Optional<String> obstacleNow(Candidate candidate) throws IOException {
    Optional<OfferedTransport> offer = candidate.offerIn(offers);
    return offer.isEmpty()
        ? Optional.of("the server offers no " + candidate.name())
        : candidate.obstacleTo(offer.get());
  }

  /**
   * Whether the server that made the offers is gone: nothing listens where it was asked, or what
   * listens there offers something else. No answer in time says nothing.
   */
  boolean areStale() {
    try {
      long timeoutNs = Math.min(left(), TimeUnit.SECONDS.toNanos(2));
      return !tcp.discover(endpoint, timeoutNs).equals(offers);
    } catch (IOException e) {
      return isRefusal(e);
    }
  }

  private static boolean isRefusal(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException)) {
        return true;
      }
    }
    return false;
  }

  /** The server's endpoint for a candidate without an obstacle. */
  String endpointOf(Candidate candidate) {
    return candidate.offerIn(offers).orElseThrow().endpoint();
  }
}
