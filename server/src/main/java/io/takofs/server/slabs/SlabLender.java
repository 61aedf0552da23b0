package io.takofs.server.slabs;

import io.takofs.layout.Layout;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.SpaceUsage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A server that lends slabs, as far as it is known.
 *
 * <p>Thread rule: the owner of the group.
 */
final class SlabLender {
  /** One slab in so many serves repair only. */
  private static final int RESERVE_OF = 20;

  /** Slabs that serve repair only, at least. */
  private static final int RESERVE_MIN = 2;

  /** They are no more than one in so many of a small server. */
  private static final int RESERVE_MOST_OF = 8;

  /** Kinds of calls; there is at most one of each at a time. */
  enum Call {
    LIST,
    LEASE,
    RETURN,
    PROBE
  }

  final int server;

  /** Leased, and in no slab of the group yet. */
  final Deque<LeasedSlab> spare = new ArrayDeque<>();

  /** Leased and taken, and in no slab of the group yet, as far as is known. */
  final Set<Replica> taken = new HashSet<>();

  /** Leased, wanted by nobody, written by nobody. */
  final List<Replica> unwanted = new ArrayList<>();

  /** Replicas in slabs of the group that the server does not lend any more. */
  final Set<Replica> lost = new HashSet<>();

  SpaceUsage usage = SpaceUsage.getDefaultInstance();

  /** Whether it has taken slabs back since it told its usage. */
  boolean tookBack;

  /** Whether it has said what it holds since it last failed to answer. */
  boolean listed;

  long listedNs;
  long askedNs;

  /** Calls that are not answered yet. */
  final Set<Call> underWay = EnumSet.noneOf(Call.class);

  /** The last call to it failed. */
  boolean failed;

  /** The reason with which the server refused the last call; empty when it did not. */
  String refusal = "";

  /** A slab was wanted, and the server had none. */
  boolean exhausted;

  /** The server's incarnation in the map when it was last listed. */
  long epoch;

  SlabLender(int server) {
    this.server = server;
  }

  /** Whether slabs may come, or come free. */
  boolean isAsked() {
    return underWay.contains(Call.LIST)
        || underWay.contains(Call.LEASE)
        || underWay.contains(Call.RETURN)
        || tookBack;
  }

  /**
   * A list is judged against the leases that there were when it was asked for, so none may come.
   */
  boolean mayLeaseOrList() {
    return !underWay.contains(Call.LIST) && !underWay.contains(Call.LEASE);
  }

  /** Whether the server has said that it lends nothing but what slabs of the group have. */
  boolean hasNothing() {
    return listed && !isAsked() && spare.isEmpty() && taken.isEmpty() && unwanted.isEmpty();
  }

  /** The server says what it has now. */
  void uses(SpaceUsage told) {
    usage = told;
    tookBack = false;
  }

  /** Slabs that serve repair only when there are other servers. */
  long reserve() {
    long slabs = usage.getCapacity() / Layout.SLAB_SIZE;
    return Math.min(slabs / RESERVE_MOST_OF, Math.max(RESERVE_MIN, slabs / RESERVE_OF));
  }

  /** How much of the server can be lent or is spare; by this, unequal servers fill evenly. */
  double freeShare() {
    long units = 0;
    for (LeasedSlab slab : spare) {
      units += slab.getEndUnit() - slab.getFirstUnit();
    }
    long capacity = usage.getCapacity();
    return capacity == 0 ? 0 : (double) (usage.getFree() + units * Layout.UNIT_SIZE) / capacity;
  }

  Replica replica(LeasedSlab slab) {
    return Replica.newBuilder()
        .setServer(server)
        .setArena(slab.getArena())
        .setIndex(slab.getIndex())
        .setLease(slab.getLease())
        .build();
  }

  static ReturnedSlab.Builder returned(Replica replica) {
    return ReturnedSlab.newBuilder()
        .setArena(replica.getArena())
        .setIndex(replica.getIndex())
        .setLease(replica.getLease());
  }
}
