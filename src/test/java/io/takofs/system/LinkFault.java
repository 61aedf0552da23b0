package io.takofs.system;

/** What befalls the link of a server, or the way between two of them. */
final class LinkFault implements ClusterFault {
  /** Kinds of it; packets that are lost are lost without a word. */
  enum Kind {
    /** Nothing comes, nothing goes. */
    DOWN,
    /** What it sends is lost. */
    SILENT,
    /** What is sent to it is lost. */
    DEAF,
    /** It and another server lose all that they send to each other. */
    APART,
    /** What it sends to another server is lost. */
    ONE_WAY,
    /** It and both others lose all that they send to each other; clients reach it. */
    ALONE
  }

  private static final int SERVERS = 3;

  private final Kind kind;
  private final ClusterNetwork network;
  private final int victim;
  private final int other;
  private final boolean leads;

  /**
   * @param victim number of a server
   * @param other number of another one, for what is between two
   * @param leads whether {@code victim} leads the namespace
   */
  LinkFault(Kind kind, ClusterNetwork network, int victim, int other, boolean leads) {
    this.kind = kind;
    this.network = network;
    this.victim = victim;
    this.other = other;
    this.leads = leads;
  }

  @Override
  public String name() {
    return (leads ? "the leader " : "a follower ") + kind;
  }

  /** A leader that can still write to one other member may go on. */
  @Override
  public boolean endsLead() {
    return leads && kind != Kind.APART && kind != Kind.ONE_WAY;
  }

  @Override
  public void inflict() throws Exception {
    switch (kind) {
      case DOWN -> network.cut(victim);
      case SILENT -> network.silence(victim);
      case DEAF -> network.deafen(victim);
      case ONE_WAY -> network.cutWay(victim, other);
      case APART -> cutBoth(other);
      case ALONE -> {
        for (int server = 0; server < SERVERS; server++) {
          if (server != victim) {
            cutBoth(server);
          }
        }
      }
    }
  }

  private void cutBoth(int server) throws Exception {
    network.cutWay(victim, server);
    network.cutWay(server, victim);
  }

  @Override
  public void heal() throws Exception {
    network.heal();
  }
}
