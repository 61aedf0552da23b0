package io.takofs.sim.log;

/** The state of a member that {@link LogInvariants} look at. */
interface CheckedMember {
  int id();

  /** Whether there is a process, without which the rest has no answer. */
  boolean isAlive();

  /** The term in which it leads; 0 when it does not. */
  long leadingTerm();

  /** The last entry of its log. */
  long lastIndex();

  /** Entries up to here are not in its log any more, and not missing. */
  long trimmedIndex();

  /** Entries up to here are in its durable checkpoint. */
  long checkpointIndex();

  /** Whether it has one, and not a part of another member's. */
  boolean hasCheckpoint();

  /** The highest term that it has promised. */
  long promisedTerm();

  /** The term of the leader whose log it adopted last. */
  long acceptedTerm();

  /** The highest epoch of a configuration that it has promised. */
  long configEpoch();

  /** Whether it has found no damage in its log. */
  boolean isSound();

  /** How often it has begun anew, and forgotten what it had promised, because it was damaged. */
  int renewals();
}
