package io.takofs.server.loggroup;

import io.takofs.base.TakoException;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.Status;
import java.util.Optional;

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
   * newest there was. It must still be the term in which that was read: what it has of a later one
   * may be newer.
   */
  default Proof prove(long term) {
    return Proof.GIVEN;
  }

  /**
   * Whether this server leads in {@code term} and no other one can, by a lease that others gave it
   * for a short time: then what it had read before is the newest there was, as after {@link
   * #prove}.
   */
  default boolean hasLease(long term) {
    return false;
  }

  /**
   * Has another member lead soon.
   *
   * @param server that shall; 0 for any that can
   * @throws TakoException INVALID_ARGUMENT when it is no other member, UNAVAILABLE when it lags,
   *     UNSUPPORTED where there is one member only
   */
  default void moveTo(int server) throws TakoException {
    throw onlyMember();
  }

  /**
   * Has server {@code comes} become a member instead of {@code leaves}, when it has learned the
   * log.
   *
   * @throws TakoException INVALID_ARGUMENT when the one is no member, or the other cannot be one;
   *     UNSUPPORTED where there is one member only
   */
  default void replace(int leaves, int comes) throws TakoException {
    throw onlyMember();
  }

  private static TakoException onlyMember() {
    return new TakoException(
        Status.UNSUPPORTED, "the namespace is on this server alone, which is in no cluster");
  }

  /** The members of the group, as their leader sees them; empty where there is one only. */
  default Optional<GroupStatus> status() {
    return Optional.empty();
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
