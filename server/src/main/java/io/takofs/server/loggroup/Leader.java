package io.takofs.server.loggroup;

/**
 * Whether this server leads a group.
 *
 * <p>Thread rule: any thread; nothing waits.
 */
public interface Leader {
  /**
   * The term in which this server leads, when all is committed that earlier leaders have committed;
   * 0 when it does not lead.
   */
  long term();

  /**
   * Begins to prove that this server led when it was asked, so that what it had read before was the
   * newest there was.
   */
  default Proof prove() {
    return Proof.GIVEN;
  }

  /** A proof that may take some time. */
  @FunctionalInterface
  interface Proof {
    /** Proves what needs no proof. */
    Proof GIVEN = () -> true;

    /** Whether it is given by now; one that cannot be given any more never is. */
    boolean isGiven();
  }
}
