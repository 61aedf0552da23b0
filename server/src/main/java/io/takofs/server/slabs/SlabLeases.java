package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.HeldSlabs;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.LeftReplica;
import io.takofs.proto.ListSlabs;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Replica;
import io.takofs.proto.ReplicaReturned;
import io.takofs.proto.Reply;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.peer.DataServers;
import io.takofs.server.slabs.SlabLender.Call;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leases that servers gave to the group: asks for more, returns what is in no slab, and
 * compares what a server holds with what the group's slabs say.
 *
 * <p>A lease that the state does not know is nobody's: a leader that was started again returns it.
 * A replica that left a slab is in the state until its server has taken it back.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class SlabLeases {
  private static final Logger LOG = LoggerFactory.getLogger(SlabLeases.class);

  /** Pause between two calls to a server that nothing is wanted of. */
  static final long PROBE_NS = TimeUnit.SECONDS.toNanos(1);

  /** Pause between two attempts to reach a server. */
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Pause between two comparisons of what a server holds with the slabs of the group. */
  private static final long LIST_NS = TimeUnit.SECONDS.toNanos(30);

  /** Replicas that one request returns, and that one tick forgets with a server. */
  private static final int RETURN_MAX = 64;

  private static final String GONE = "the server has lost its pool";

  /**
   * Bytes of replicas that left in one request at most: it fits a slot, with those without
   * grantees.
   */
  private static final int RETURN_BYTES = 10 << 10;

  private final Clock clock;
  private final DataServers servers;
  private final Supplier<Leadership> leader;
  private final Entries entries;
  private final StateMachine machine;
  private final ServerWatch watch;
  private final Map<Integer, SlabLender> lenders = new TreeMap<>();
  private final Set<Replica> takenBack = new LinkedHashSet<>(); // not logged yet
  private long requests;

  public SlabLeases(
      Clock clock,
      DataServers servers,
      Supplier<Leadership> leader,
      Entries entries,
      StateMachine machine,
      ServerWatch watch) {
    this.clock = clock;
    this.servers = servers;
    this.leader = leader;
    this.entries = entries;
    this.machine = machine;
    this.watch = watch;
  }

  Collection<SlabLender> lenders() {
    return Collections.unmodifiableCollection(lenders.values());
  }

  /** The server {@code id}; null of one whose pool is gone. */
  SlabLender lender(int id) {
    return lenders.get(id);
  }

  /** Which servers answer and will not lend, and why, for people. */
  public List<String> refusals() {
    return lenders.values().stream()
        .filter(lender -> !lender.refusal.isEmpty())
        .map(lender -> "server " + lender.server + " lends no slabs: " + lender.refusal)
        .toList();
  }

  /** How many slabs each server has lent that are in no slab of the group yet, by server. */
  public Map<Integer, Integer> spare() {
    Map<Integer, Integer> spare = new TreeMap<>();
    lenders.values().forEach(lender -> spare.put(lender.server, lender.spare.size()));
    return spare;
  }

  /**
   * The bytes of the data zones of the servers that are there, and how many of them are handed out,
   * and free: can be leased, are spare, or are in slabs and not handed out.
   */
  SpaceUsage usage() {
    long capacity = 0;
    long free = 0;
    long used = 0;
    for (SlabLender lender : lenders.values()) {
      boolean hasSaid = lender.usage.getCapacity() > 0; // how much it has, to this leader
      if (!hasSaid || !isThere(watch.entry(lender.server))) {
        continue;
      }
      capacity += lender.usage.getCapacity();
      free += lender.usage.getFree();
      for (LeasedSlab spare : lender.spare) {
        free += (long) (spare.getEndUnit() - spare.getFirstUnit()) * Layout.UNIT_SIZE;
      }
      free += machine.slabs().freeBytesAt(lender.server);
      used += machine.slabs().usedBytesAt(lender.server);
    }
    return SpaceUsage.newBuilder().setCapacity(capacity).setUsed(used).setFree(free).build();
  }

  private static boolean isThere(ServerEntry server) {
    return server != null
        && (server.getState() == ServerEntry.State.UP
            || server.getState() == ServerEntry.State.DECOMMISSIONING);
  }

  /**
   * Asks each server what is due, one call at a time.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    watch.tick();
    lenders.values().removeIf(lender -> watch.isGone(lender.server));
    for (ServerEntry entry : servers.servers()) {
      if (watch.isGone(entry.getId())) {
        continue;
      }
      SlabLender lender = lenders.computeIfAbsent(entry.getId(), SlabLender::new);
      if (entry.getEpoch() != lender.epoch) {
        lender.epoch = entry.getEpoch();
        lender.listed = false;
      }
      if (entry.getState() == ServerEntry.State.DECOMMISSIONING) {
        lender.spare.forEach(slab -> lender.unwanted.add(lender.replica(slab)));
        lender.spare.clear();
      }
      ask(lender);
    }
    forgetReturned();
  }

  /** Tells of servers that are to leave the cluster and of which the group has nothing any more. */
  void tellEmptied() {
    for (SlabLender lender : lenders.values()) {
      ServerEntry entry = watch.entry(lender.server);
      if (entry != null
          && entry.getState() == ServerEntry.State.DECOMMISSIONING
          && lender.hasNothing()
          && machine.leftReplicas().at(lender.server).isEmpty()
          && machine.slabs().all().stream()
              .flatMap(slab -> slab.getReplicasList().stream())
              .noneMatch(replica -> replica.getServer() == lender.server)) {
        servers.emptied(lender.server);
      }
    }
  }

  private void ask(SlabLender lender) {
    long now = clock.nanoTime();
    if (lender.listed) {
      returnLeases(lender);
    }
    boolean due =
        lender.listed ? now - lender.listedNs >= LIST_NS : now - lender.askedNs >= RETRY_NS;
    if ((due || lender.askedNs == 0) && lender.mayLeaseOrList()) {
      list(lender);
    } else if (lender.listed && now - lender.askedNs >= PROBE_NS) {
      probe(lender);
    }
  }

  /** Logs which replicas that left were taken back, or are gone with servers that were removed. */
  private void forgetReturned() throws TakoException {
    for (int server : machine.leftReplicas().servers()) {
      if (watch.isRemoved(server)) {
        machine.leftReplicas().at(server).stream()
            .limit(RETURN_MAX)
            .map(LeftReplica::getReplica)
            .forEach(takenBack::add);
      }
    }
    for (Replica replica : List.copyOf(takenBack)) {
      entries.execute(
          LogEntry.newBuilder()
              .setTimeMs(clock.currentTimeMillis())
              .setReplicaReturned(ReplicaReturned.newBuilder().setReplica(replica))
              .build());
      takenBack.remove(replica);
    }
  }

  private void call(SlabLender lender, Call kind, Request.Builder request, Answer answer) {
    lender.underWay.add(kind);
    lender.askedNs = clock.nanoTime();
    try {
      servers.call(lender.server, request.build(), reply -> answered(lender, kind, reply, answer));
    } catch (RuntimeException | Error e) { // no thread could be made, say
      lender.underWay.remove(kind);
      throw e;
    }
  }

  private void answered(SlabLender lender, Call kind, Reply reply, Answer answer) {
    lender.underWay.remove(kind);
    boolean wasFailed = lender.failed;
    lender.failed = reply.getStatus() != Status.OK;
    boolean answers = reply.getStatus() != Status.UNAVAILABLE;
    lender.refusal = lender.failed && answers ? reply.getMessage() : "";
    if (!answers) {
      watch.failed(lender.server);
      lender.listed = false;
    } else {
      watch.answered(lender.server);
    }
    if (reply.getStatus() == Status.OK) {
      answer.accept(reply);
    } else {
      lender.exhausted = true;
      lender.listed = false;
      if (!wasFailed) {
        LOG.warn("server {} lends no slabs: {}", lender.server, reply.getMessage());
      }
    }
  }

  /** What is done with a reply that is OK. */
  @FunctionalInterface
  private interface Answer {
    void accept(Reply reply);
  }

  /**
   * A client with a session says which replicas failed it. Those servers are asked soon; until they
   * answer nothing is granted there, and for a while nothing to this client. A report is believed
   * only of a server that has a replica of the slab.
   */
  public void report(long clientId, ReportReplicas reports) {
    for (ReportReplicas.Report report : reports.getReportsList()) {
      Slab slab = machine.slabs().get(report.getSlab());
      SlabLender lender = lenders.get(report.getServer());
      if (slab != null
          && lender != null
          && !report.getWrongBytes()
          && slab.getReplicasList().stream()
              .anyMatch(replica -> replica.getServer() == report.getServer())) {
        watch.reported(clientId, report.getServer());
        probe(lender);
      }
    }
  }

  // ---- what a server holds

  private void list(SlabLender lender) {
    list(
        lender,
        ListSlabs.newBuilder().setLeader(leader.get()).setFirstPage(true),
        new LinkedHashSet<>());
  }

  private void list(SlabLender lender, ListSlabs.Builder page, Set<Replica> held) {
    call(
        lender,
        Call.LIST,
        Request.newBuilder().setListSlabs(page),
        reply -> listed(lender, reply.getHeldSlabs(), held));
  }

  private void listed(SlabLender lender, HeldSlabs page, Set<Replica> held) {
    lender.uses(page.getUsage());
    page.getSlabsList().forEach(slab -> held.add(lender.replica(slab)));
    if (page.getMore()) {
      LeasedSlab last = page.getSlabs(page.getSlabsCount() - 1);
      list(
          lender,
          ListSlabs.newBuilder()
              .setLeader(leader.get())
              .setAfterArena(last.getArena())
              .setAfterIndex(last.getIndex()),
          held);
      return;
    }
    lender.listed = true;
    lender.listedNs = clock.nanoTime();
    lender.exhausted = lender.usage.getFree() == 0;
    judge(lender, held);
    returnLeases(lender);
  }

  /** No lease was asked of the server since it was asked for the list. */
  private void judge(SlabLender lender, Set<Replica> held) {
    lender.spare.removeIf(slab -> !held.contains(lender.replica(slab)));
    lender.taken.retainAll(held);
    Set<Replica> known = new HashSet<>(lender.taken);
    lender.spare.forEach(slab -> known.add(lender.replica(slab)));
    known.addAll(lender.unwanted);
    for (Replica replica : held) {
      Slab slab = machine.slabs().at(replica);
      if ((slab == null || !slab.getReplicasList().contains(replica))
          && !known.contains(replica)
          && !machine.leftReplicas().contains(replica)) {
        lender.unwanted.add(replica);
      }
    }
    lender.lost.clear();
    for (Slab slab : machine.slabs().all()) {
      for (Replica replica : slab.getReplicasList()) {
        if (replica.getServer() == lender.server && !held.contains(replica)) {
          lender.lost.add(replica);
        }
      }
    }
  }

  /** Whether the server does not lend {@code replica} any more, for all that is known. */
  boolean isLost(Replica replica) {
    SlabLender lender = lenders.get(replica.getServer());
    return lender != null && lender.lost.contains(replica);
  }

  /** Whether the server of {@code replica} has said that it lends it. */
  boolean isIntact(Replica replica) {
    SlabLender lender = lenders.get(replica.getServer());
    return lender != null && !lender.lost.contains(replica) && isPresent(lender);
  }

  /** Whether a server answers, and has said what it lends. */
  boolean isPresent(SlabLender lender) {
    return lender.listed && watch.health(lender.server) == ServerWatch.Health.UP;
  }

  // ---- returning

  /** {@code replica} is in no slab, and nobody was ever granted anything there. */
  void giveBack(Replica replica) {
    SlabLender lender = lenders.get(replica.getServer());
    if (lender != null) {
      lender.taken.remove(replica);
      lender.unwanted.add(replica);
      ask(lender);
    }
  }

  /** Replicas at {@code server} have left their slabs. */
  void giveBackLeft(int server) {
    SlabLender lender = lenders.get(server);
    if (lender != null && lender.listed) {
      returnLeases(lender);
    }
  }

  private void returnLeases(SlabLender lender) {
    if (lender.underWay.contains(Call.RETURN)) {
      return;
    }
    ReturnSlabs.Builder returns = ReturnSlabs.newBuilder().setLeader(leader.get());
    List<Replica> leaving = new ArrayList<>();
    int bytes = 0;
    for (LeftReplica left : machine.leftReplicas().at(lender.server)) {
      if (!takenBack.contains(left.getReplica()) && leaving.size() < RETURN_MAX) {
        ReturnedSlab returned =
            SlabLender.returned(left.getReplica()).addAllGrantees(left.getGranteesList()).build();
        bytes += returned.getSerializedSize();
        if (bytes > RETURN_BYTES && !leaving.isEmpty()) {
          break;
        }
        leaving.add(left.getReplica());
        returns.addSlabs(returned);
      }
    }
    List<Replica> unwanted = lender.unwanted.stream().limit(RETURN_MAX).toList();
    unwanted.forEach(replica -> returns.addSlabs(SlabLender.returned(replica)));
    if (returns.getSlabsCount() == 0) {
      return;
    }
    call(
        lender,
        Call.RETURN,
        Request.newBuilder().setReturnSlabs(returns),
        reply -> {
          takenBack.addAll(leaving);
          lender.unwanted.removeAll(unwanted);
          lender.exhausted = false;
          lender.tookBack = true;
          returnLeases(lender);
          probe(lender); // the answer says how much space is free now
        });
  }

  // ---- leasing

  /**
   * Slabs of {@code lender} that serve repair only, so that servers that are full for writers can
   * still make lost copies, and put a good one in the place of one with wrong bytes. A server alone
   * has none, because there is nothing to repair from.
   */
  long reserve(SlabLender lender) {
    return lenders.size() > 1 ? lender.reserve() : 0;
  }

  /**
   * Slabs that {@code lender} can lend to writers, and to what moves by choice; without a reserve
   * the server is asked how many.
   */
  long unreserved(SlabLender lender) {
    if (lender.exhausted && lender.spare.isEmpty()) {
      return 0;
    }
    long reserve = reserve(lender);
    long free = (lender.usage.getFree() + Layout.SLAB_SIZE - 1) / Layout.SLAB_SIZE;
    return reserve == 0 ? Long.MAX_VALUE : Math.max(0, lender.spare.size() + free - reserve);
  }

  /** Slabs that {@code lender} lacks to be able to lend {@code slabs} to writers; 0 when it can. */
  long lacking(SlabLender lender, long slabs) {
    if (unreserved(lender) >= slabs) {
      return 0;
    }
    long free = lender.usage.getFree() / Layout.SLAB_SIZE;
    return Math.max(1, reserve(lender) + slabs - lender.spare.size() - free);
  }

  /** Asks for {@code count} slabs, which will be spare. */
  void lease(SlabLender lender, int count) {
    if (!lender.mayLeaseOrList() || !lender.listed) {
      return;
    }
    call(
        lender,
        Call.LEASE,
        request(count),
        reply -> {
          lender.uses(reply.getLeasedSlabs().getUsage());
          lender.spare.addAll(reply.getLeasedSlabs().getSlabsList());
          lender.exhausted = reply.getLeasedSlabs().getSlabsCount() == 0;
        });
  }

  /** Asks for no slab, to hear from the server and what space it has. */
  private void probe(SlabLender lender) {
    if (!lender.underWay.contains(Call.PROBE)) {
      call(
          lender,
          Call.PROBE,
          request(0),
          reply -> {
            lender.uses(reply.getLeasedSlabs().getUsage());
            lender.exhausted = lender.usage.getFree() == 0;
          });
    }
  }

  private Request.Builder request(int count) {
    return Request.newBuilder()
        .setLeaseSlabs(
            LeaseSlabs.newBuilder().setLeader(leader.get()).setCount(count).setRequest(++requests));
  }

  /**
   * A spare slab of {@code lender} that has these units; null when there is none, and then one is
   * asked for. The caller gives it back, or says that it is in a slab of the group.
   */
  LeasedSlab take(SlabLender lender, int firstUnit, int endUnit) {
    for (int attempt = 0; attempt < 2; attempt++) {
      for (LeasedSlab slab : lender.spare) {
        if (slab.getFirstUnit() <= firstUnit && slab.getEndUnit() >= endUnit) {
          lender.spare.remove(slab);
          lender.taken.add(lender.replica(slab));
          return slab;
        }
      }
      if (attempt == 0 && !lender.exhausted) {
        lease(lender, 1);
      }
    }
    return null;
  }

  /** The next spare slab of {@code lender}, whatever units it has, as {@link #take}. */
  LeasedSlab take(SlabLender lender) {
    LeasedSlab slab = lender.spare.remove();
    lender.taken.add(lender.replica(slab));
    return slab;
  }

  /**
   * Whether the server of {@code replica}, which was taken, answers and has said that it lends it.
   */
  boolean isTaken(Replica replica) {
    SlabLender lender = lenders.get(replica.getServer());
    return mayKeep(replica)
        && lender.listed
        && watch.health(replica.getServer()) == ServerWatch.Health.UP;
  }

  /**
   * Whether a replica that was taken may be at its server still, and is wanted there: the server is
   * not dead, and not about to leave.
   */
  boolean mayKeep(Replica replica) {
    int server = replica.getServer();
    SlabLender lender = lenders.get(server); // none of a server whose pool is gone
    return lender != null
        && lender.taken.contains(replica)
        && watch.health(server) != ServerWatch.Health.DEAD
        && watch.entry(server).getState() == ServerEntry.State.UP;
  }

  /** Asks the server of the target to fill it, or how far it has come. */
  void copy(CopyExtents.Builder copy, Consumer<Reply> answer) {
    SlabLender lender = lenders.get(copy.getTarget().getServer());
    if (lender == null) { // its pool is gone
      answer.accept(Reply.newBuilder().setStatus(Status.UNAVAILABLE).setMessage(GONE).build());
      return;
    }
    servers.call(
        lender.server,
        Request.newBuilder().setCopyExtents(copy.setLeader(leader.get())).build(),
        reply -> {
          if (reply.getStatus() == Status.UNAVAILABLE) {
            watch.failed(lender.server);
            lender.listed = false;
          } else {
            watch.answered(lender.server);
          }
          answer.accept(reply);
        });
  }

  /** The state says that {@code replica} is in a slab. */
  void placed(Replica replica) {
    SlabLender lender = lenders.get(replica.getServer());
    if (lender != null) {
      lender.taken.remove(replica);
    }
  }

  /** Whether an answer of a server that answers may bring slabs. */
  boolean isAsking() {
    return lenders.values().stream().anyMatch(lender -> lender.isAsked() && !lender.failed);
  }
}
