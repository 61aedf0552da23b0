package io.takofs.sim.log;

import io.takofs.transport.QueuePair;

/**
 * A member's end of a leader's connection, which does not end when it is told to, or claims that
 * nothing lands any more when something does.
 */
final class LatePair extends ForwardedPair {
  private final QueuePair pair;
  private final Runnable revocation;
  private final boolean claimsEnd;
  private boolean asked;

  /**
   * @param revocation ends the connection, now or later
   * @param claimsEnd whether nothing is said to land any more, in any case
   */
  LatePair(QueuePair pair, Runnable revocation, boolean claimsEnd) {
    this.pair = pair;
    this.revocation = revocation;
    this.claimsEnd = claimsEnd;
  }

  @Override
  QueuePair pair() {
    return pair;
  }

  @Override
  public boolean revoke() {
    boolean first = !asked;
    if (first) {
      asked = true;
      revocation.run();
    }
    // Until it has ended, somebody may store.
    return claimsEnd || (!first && pair.state() != State.CONNECTED && pair.revoke());
  }
}
