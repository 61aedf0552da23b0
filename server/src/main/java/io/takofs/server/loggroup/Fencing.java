package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.Leadership;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.extent.Location;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.peer.DataServers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Asks the servers that keep an extent whether nobody can write it any more and nobody reads it,
 * again and again until all of them say so. The local server answers at once. A server that is LOST
 * has to answer, too, because it may come back, unless its replica leaves the slab, or the slab
 * goes: a replica that left names who may still write there.
 *
 * <p>Thread rule: the owner of the group.
 */
final class Fencing {
  /** Extents that wait for one server at most: more of its own are not asked for until then. */
  static final int WAITING_MAX = 65_536;

  private final Clock clock;
  private final DataServers servers;
  private final Supplier<Leadership> leader;
  private final LongFunction<Slab> slabs;
  private final Map<Long, Map<Quarantined, Started>> started = new HashMap<>(); // by slab
  private final Set<Quarantined> answered = new LinkedHashSet<>(); // since it was asked last
  private final Map<Integer, Integer> waiting = new HashMap<>(); // extents, by server
  private final Set<Integer> asking = new HashSet<>();

  /**
   * The time at which an extent was first asked for, the replicas that are done, and the servers
   * for which it counts as waiting.
   */
  private record Started(long sinceNs, Set<Replica> done, Set<Integer> waiting) {}

  /** The extents that one server is asked for, and the request. */
  private record Question(
      List<Quarantined> extents, List<Replica> replicas, FenceExtents.Builder request) {
    static Question begin(Leadership leader) {
      return new Question(
          new ArrayList<>(), new ArrayList<>(), FenceExtents.newBuilder().setLeader(leader));
    }
  }

  /**
   * @param slabs of the group, by id; null for none
   */
  Fencing(Clock clock, DataServers servers, Supplier<Leadership> leader, LongFunction<Slab> slabs) {
    this.clock = clock;
    this.servers = servers;
    this.leader = leader;
    this.slabs = slabs;
  }

  /** The time since {@code extent} was first asked for, ns; 0 when it was not. */
  long askedForNs(Quarantined extent) {
    Started begun = begun(extent);
    return begun == null ? 0 : clock.nanoTime() - begun.sinceNs;
  }

  /**
   * Asks for {@code extents}, in quarantine.
   *
   * @param force whether to end the connections of an extent's grantee if that is what it takes
   * @return those that all servers are done with, of these and of those that were asked for before
   */
  Set<Quarantined> ask(List<Quarantined> extents, Predicate<Quarantined> force) {
    forgetRemoved();
    Map<Integer, Question> questions = new TreeMap<>();
    for (Quarantined extent : extents) {
      if (begun(extent) != null || mayStart(extent)) {
        ask(extent, force.test(extent), questions);
      }
    }
    questions.forEach(this::send);
    answered.addAll(extents); // a replica that had to answer may have left the slab
    Set<Quarantined> done = new LinkedHashSet<>();
    for (Quarantined extent : answered) {
      Started begun = begun(extent);
      if (begun != null && begun.done.containsAll(slab(extent).getReplicasList())) {
        started.get(extent.range().slab()).remove(extent);
        begun.waiting.forEach(this::waitsLess);
        done.add(extent);
      }
    }
    answered.clear();
    return done;
  }

  /** What rested in a slab that is gone is nothing any more. */
  private void forgetRemoved() {
    started
        .entrySet()
        .removeIf(
            of -> {
              boolean removed = slabs.apply(of.getKey()) == null;
              if (removed) {
                of.getValue().values().forEach(begun -> begun.waiting.forEach(this::waitsLess));
              }
              return removed || of.getValue().isEmpty();
            });
  }

  /** What is known of an extent that was asked for; null for nothing. */
  private Started begun(Quarantined extent) {
    return started.getOrDefault(extent.range().slab(), Map.of()).get(extent);
  }

  private Slab slab(Quarantined extent) {
    return slabs.apply(extent.range().slab());
  }

  private boolean mayStart(Quarantined extent) {
    return slab(extent).getReplicasList().stream()
        .map(Replica::getServer)
        .allMatch(server -> waiting.getOrDefault(server, 0) < WAITING_MAX);
  }

  private Started start(Quarantined extent) {
    Set<Integer> at = new HashSet<>();
    slab(extent).getReplicasList().forEach(replica -> at.add(replica.getServer()));
    at.forEach(server -> waiting.merge(server, 1, Integer::sum));
    return new Started(clock.nanoTime(), new HashSet<>(), at);
  }

  private void waitsLess(int server) {
    waiting.computeIfPresent(server, (id, count) -> count == 1 ? null : count - 1);
  }

  private void done(Started begun, Replica replica) {
    begun.done.add(replica);
    if (begun.waiting.remove(replica.getServer())) {
      waitsLess(replica.getServer());
    }
  }

  private void ask(Quarantined extent, boolean force, Map<Integer, Question> questions) {
    Started begun =
        started
            .computeIfAbsent(extent.range().slab(), slab -> new HashMap<>())
            .computeIfAbsent(extent, this::start);
    for (Replica replica : slab(extent).getReplicasList()) {
      if (begun.done.contains(replica) || asking.contains(replica.getServer())) {
        continue;
      }
      Location place = extent.range().in(replica);
      Question question =
          questions.computeIfAbsent(replica.getServer(), server -> Question.begin(leader.get()));
      question.extents.add(extent);
      question.replicas.add(replica);
      question.request.addExtents(
          FencedExtent.newBuilder()
              .setArena(place.arena())
              .setOffset(place.offset())
              .setCapacity(place.capacity())
              .setLease(replica.getLease())
              .setGrantee(extent.grantee())
              .setGrant(extent.grant())
              .setForce(force));
    }
  }

  private void send(int server, Question question) {
    asking.add(server);
    Request request = Request.newBuilder().setFenceExtents(question.request).build();
    servers.call(server, request, reply -> answered(server, question, reply));
  }

  private void answered(int server, Question question, Reply reply) {
    asking.remove(server);
    if (reply.getStatus() != Status.OK) {
      return; // it is asked again
    }
    for (int index : reply.getFencedExtents().getDoneList()) {
      Quarantined extent = question.extents.get(index);
      Started begun = begun(extent);
      if (begun != null) {
        done(begun, question.replicas.get(index));
        answered.add(extent);
      }
    }
  }
}
