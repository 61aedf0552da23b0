package io.takofs.system;

/** What befalls the process of a server, or the machine that it is on. */
final class ProcessFault implements ClusterFault {
  /** Kinds of it. */
  enum Kind {
    KILLED,
    /** Stands still, and does not notice that it did. */
    FROZEN,
    /** Killed; its pool and all that it knew is gone. */
    LOST
  }

  private final Kind kind;
  private final ServerProcess victim;
  private final boolean leads;

  /**
   * @param leads whether {@code victim} leads the namespace
   */
  ProcessFault(Kind kind, ServerProcess victim, boolean leads) {
    this.kind = kind;
    this.victim = victim;
    this.leads = leads;
  }

  @Override
  public String name() {
    return (leads ? "the leader " : "a follower ") + kind;
  }

  @Override
  public boolean endsLead() {
    return leads;
  }

  @Override
  public void inflict() throws Exception {
    switch (kind) {
      case KILLED -> victim.kill();
      case FROZEN -> victim.signal("STOP");
      case LOST -> {
        victim.kill();
        victim.losePool();
      }
    }
  }

  @Override
  public void heal() throws Exception {
    if (kind == Kind.FROZEN) {
      victim.signal("CONT");
    } else {
      victim.restart();
    }
  }
}
