package io.takofs.sim.slab;

import io.takofs.proto.HeldSlabs;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.ListSlabs;
import io.takofs.proto.Replica;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import io.takofs.sim.SimDataServer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Leases slabs from servers for the group of the model, and sees that they all come back. */
final class SlabSpace {
  static final Leadership LEADER = Leadership.newBuilder().setGroup(1).setTerm(1).build();
  static final Request LIST =
      Request.newBuilder()
          .setListSlabs(ListSlabs.newBuilder().setLeader(LEADER).setFirstPage(true))
          .build();

  private final SlabCluster cluster;
  private final DataServers calls;
  private final Set<Weakness> weak;
  private final Map<Replica, Set<Long>> returning = new LinkedHashMap<>();
  private final Set<Replica> returnAsked = new HashSet<>();
  private final Map<Integer, Integer> leasing = new HashMap<>(); // calls under way, by server
  private final Map<Integer, Integer> listing = new HashMap<>();
  private long lastRequest;

  SlabSpace(SlabCluster cluster, DataServers calls, Set<Weakness> weak) {
    this.cluster = cluster;
    this.weak = weak;
    this.calls = calls;
  }

  /** Replicas that are not back yet. */
  Set<Replica> returning() {
    return returning.keySet();
  }

  /** It is not given back after all. */
  void keep(Replica replica) {
    returning.remove(replica);
  }

  /** Asks again for what is not back yet. */
  void sendBack() {
    List.copyOf(returning.keySet()).forEach(this::sendBack);
  }

  /** Leases a slab: one of the two is told. */
  void lease(int server, Consumer<LeasedSlab> use, Runnable failed) {
    leasing.merge(server, 1, Integer::sum);
    Request request =
        Request.newBuilder()
            .setLeaseSlabs(
                LeaseSlabs.newBuilder().setLeader(LEADER).setCount(1).setRequest(++lastRequest))
            .build();
    askForLease(server, request, 3, use, failed);
  }

  private void askForLease(
      int server, Request request, int tries, Consumer<LeasedSlab> use, Runnable failed) {
    calls.call(
        server,
        request,
        reply -> {
          boolean answered = reply.getStatus() == Status.OK;
          if (!answered && tries > 0) {
            askForLease(server, request, tries - 1, use, failed);
            return;
          }
          leasing.merge(server, -1, Integer::sum);
          if (answered && reply.getLeasedSlabs().getSlabsCount() > 0) {
            use.accept(reply.getLeasedSlabs().getSlabs(0));
          } else {
            failed.run(); // what was leased all the same is found by a list
          }
        });
  }

  /** Returns a slab in which {@code grantees} may still write. */
  void giveBack(Replica replica, Set<Long> grantees) {
    if (cluster.server(replica.getServer()) != null) {
      returning.put(replica, new TreeSet<>(grantees));
    }
  }

  private void sendBack(Replica replica) {
    if (!returnAsked.add(replica)) {
      return;
    }
    ReturnedSlab slab =
        ReturnedSlab.newBuilder()
            .setArena(replica.getArena())
            .setIndex(replica.getIndex())
            .setLease(replica.getLease())
            .addAllGrantees(returning.get(replica))
            .build();
    Request request =
        Request.newBuilder()
            .setReturnSlabs(ReturnSlabs.newBuilder().setLeader(LEADER).addSlabs(slab))
            .build();
    calls.call(
        replica.getServer(),
        request,
        reply -> {
          returnAsked.remove(replica);
          if (reply.getStatus() == Status.OK || cluster.server(replica.getServer()) == null) {
            returning.remove(replica);
          }
        });
  }

  /** Returns, now and then, what a server holds and is not among {@code known}. */
  void reconcile(Supplier<Set<Replica>> known) {
    for (SimDataServer server : cluster.servers()) {
      int id = server.id();
      if (cluster.scheduler().random().nextInt(40) != 0 || listing.getOrDefault(id, 0) > 0) {
        continue;
      }
      listing.merge(id, 1, Integer::sum);
      long requestsBefore = lastRequest;
      boolean quiet = leasing.getOrDefault(id, 0) == 0;
      calls.call(
          id,
          LIST,
          reply -> {
            listing.merge(id, -1, Integer::sum);
            boolean isOld = !quiet || requestsBefore != lastRequest;
            if ((!isOld || weak.contains(Weakness.LIST_EARLY)) && reply.getStatus() == Status.OK) {
              judge(id, reply.getHeldSlabs(), known.get());
            }
          });
    }
  }

  private void judge(int server, HeldSlabs held, Set<Replica> known) {
    for (LeasedSlab each : held.getSlabsList()) {
      Replica replica = Slab.replica(server, each);
      if (!known.contains(replica) && !returning.containsKey(replica)) {
        giveBack(replica, Set.of());
      }
    }
  }
}
