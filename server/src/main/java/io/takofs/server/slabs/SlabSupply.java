package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.layout.Layout;
import io.takofs.proto.AddSlab;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.LogEntry;
import io.takofs.proto.RemoveSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.StateMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees that the group has slabs with room for what is written: makes them of what the servers lend,
 * and returns those that are wholly free when another kind of slab needs the space.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class SlabSupply {
  private static final Logger LOG = LoggerFactory.getLogger(SlabSupply.class);

  /** Slabs leased at once at most. */
  private static final int LEASE_MAX = 8;

  /** Room that is kept where servers do not lend at once, bytes. */
  private static final long AHEAD = 4L * Layout.SLAB_SIZE;

  /**
   * No slab is made near a writer while one in so many bytes is free in slabs of the kind, and
   * slabs go back to their servers only while it is.
   */
  private static final int MUCH_OF = 8;

  /** Time for which slabs are leased ahead for a kind of files that nobody writes any more. */
  private static final long LATE_NS = TimeUnit.MINUTES.toNanos(1);

  /** Time for which a shortage counts that nobody has noticed again. */
  private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(10);

  /** Time for which no slab is made ahead after the log refused one. */
  private static final long REFUSED_NS = TimeUnit.SECONDS.toNanos(5);

  /** Entries of slabs that are not needed at once. */
  @FunctionalInterface
  interface Making {
    void run() throws TakoException;
  }

  /**
   * Servers have no slab for files that somebody wanted to write, or to move.
   *
   * @param copies that the files are to have
   * @param avoided servers that must have none of them
   * @param kept whether nobody lacks a slab yet, and servers cannot lend as many as they are to
   *     keep
   * @param firstNs when that was noticed first, of those times that it was in a row
   * @param lastNs when it was noticed last
   */
  record Shortage(int copies, Set<Integer> avoided, boolean kept, long firstNs, long lastNs) {}

  /** A kind of files that had to wait for slabs: where they were to be, and when. */
  private record Late(int near, Set<Integer> avoided, long askedNs) {}

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final ServerWatch watch;
  private final SlabPlacement placement;
  private final int copiesMin;
  private final Map<Integer, Late> late = new TreeMap<>(); // by copies
  private final Map<Integer, Shortage> shortages = new TreeMap<>(); // by copies
  private Shortage kept; // of slabs that servers are to keep; null for none
  private boolean refused; // the last slab that was to be made ahead
  private long refusedNs;

  /**
   * @param copiesMin with which a slab may be made when there are too few servers for more
   */
  public SlabSupply(
      Clock clock,
      Entries entries,
      StateMachine machine,
      SlabLeases leases,
      ServerWatch watch,
      int copiesMin) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.leases = leases;
    this.watch = watch;
    this.placement = new SlabPlacement(server -> watch.entry(server).getRack());
    this.copiesMin = copiesMin;
  }

  /**
   * The bytes of the data servers, how many of them extents have, and how many they may have: every
   * copy counts. Neither used nor free is what servers lent for a slab that begins later or ends
   * earlier at another server, and what is on its way to or from a server.
   */
  public SpaceUsage usage() {
    return leases.usage();
  }

  // ---- room

  /**
   * Leases slabs until there is room for {@code bytes} more of files that are to have {@code
   * copies} copies, as far as the servers lend at once; what others lend comes later.
   *
   * @param near server that should have one of the copies; 0 for any
   * @param avoided servers that must have none of them
   * @return whether there is that room now
   * @throws TakoException when the log takes no entry
   */
  public boolean makeRoom(int copies, int near, Set<Integer> avoided, long bytes)
      throws TakoException {
    while (machine.freeBytes(copies, avoided) < bytes) {
      long before = machine.freeBytes(copies, avoided);
      boolean lent = lease(copies, near, avoided, bytes - before);
      if (!lent && !isAsking() && !returnOthers(copies, avoided)) {
        note(copies, avoided);
        return false;
      }
      compose(copies, near, avoided, false);
      if (machine.freeBytes(copies, avoided) == before && isAsking()) {
        late.put(copies, new Late(near, avoided, clock.nanoTime()));
        return false;
      }
    }
    shortages.remove(copies);
    makeAhead(() -> makeMoreRoom(copies, near, avoided, bytes));
    return true;
  }

  private void makeMoreRoom(int copies, int near, Set<Integer> avoided, long bytes)
      throws TakoException {
    if (late.containsKey(copies)) {
      late.put(copies, new Late(near, avoided, clock.nanoTime()));
      leaseAhead(copies, near, avoided);
    }
    if (near != 0 && machine.freeBytesNear(copies, near) < bytes) {
      makeRoomNear(copies, near, avoided, bytes);
    }
  }

  /**
   * Makes slabs that are not needed at once, or returns some. When the log refuses that nothing
   * else fails, because there is room, and for a while it is not tried again.
   */
  void makeAhead(Making making) {
    if (refused && clock.nanoTime() - refusedNs < REFUSED_NS) {
      return;
    }
    try {
      making.run();
      refused = false;
    } catch (TakoException e) {
      refused = true;
      refusedNs = clock.nanoTime();
      LOG.warn("no slabs are made ahead of what is written, or returned: {}", e.getMessage());
    }
  }

  /**
   * Leases slabs with a copy at the server on the writer's host, although others have room: each
   * host that writes has one of its own. A writer does not wait for them, and goes on in others
   * where too much of the servers would be in slabs that are partly used.
   */
  private void makeRoomNear(int copies, int near, Set<Integer> avoided, long bytes)
      throws TakoException {
    long free = copies * machine.freeBytes(copies, Set.of());
    List<SlabLender> chosen =
        free >= leases.usage().getCapacity() / MUCH_OF
            ? List.of()
            : choose(copies, near, avoided, true);
    if (!chosen.isEmpty() && chosen.get(0).server == near) {
      lease(chosen, bytes - machine.freeBytesNear(copies, near), true);
      compose(copies, near, avoided, true);
    }
  }

  /** Leases slabs before they are needed, while servers have some that are not lent. */
  private void leaseAhead(int copies, int near, Set<Integer> avoided) throws TakoException {
    long missing = AHEAD - machine.freeBytes(copies, avoided);
    List<SlabLender> chosen = missing > 0 ? choose(copies, near, avoided, true) : List.of();
    if (!chosen.isEmpty()) {
      lease(chosen, missing, true);
      compose(copies, near, avoided, true);
    }
  }

  /** Leases ahead for the kinds of files that had to wait for a slab. */
  public void tick() {
    late.values().removeIf(kind -> clock.nanoTime() - kind.askedNs >= LATE_NS);
    for (Map.Entry<Integer, Late> kind : late.entrySet()) {
      Set<Integer> avoided = new TreeSet<>(watch.avoided(0, machine.slabs().servers()));
      kind.getValue().avoided.stream().filter(watch::isReported).forEach(avoided::add);
      makeAhead(() -> leaseAhead(kind.getKey(), kind.getValue().near, avoided));
    }
  }

  /**
   * @throws TakoException UNAVAILABLE when fewer servers answer than files with {@code copies}
   *     copies must have
   */
  public void checkServers(int copies) throws TakoException {
    long answering = leases.lenders().stream().filter(this::answers).count();
    int needed = Math.min(copies, copiesMin);
    if (answering < needed) {
      throw new TakoException(
          Status.UNAVAILABLE,
          ("only %d of %d servers answer, and file data must have %d copies at least; start the"
                  + " other servers, or lower %s")
              .formatted(
                  answering, leases.lenders().size(), needed, ConfigKeys.REPLICATION_MIN.name()));
    }
  }

  /**
   * Names the servers that are full when files of {@code copies} copies have no room: others may
   * have some still, but too few of them.
   *
   * @param avoided servers where nothing is granted to the client
   * @throws TakoException NO_SPACE when there are several servers, and one that answers is full;
   *     UNAVAILABLE when others that do not answer at the moment may have room for all copies, or
   *     have copies of slabs in which there is room
   */
  public void checkFull(int copies, Set<Integer> avoided) throws TakoException {
    int servers = leases.lenders().size();
    List<String> full = new ArrayList<>();
    List<String> away = new ArrayList<>();
    int living = 0;
    int roomy = 0;
    for (SlabLender lender : leases.lenders()) {
      long slabs = lender.spare.size() + lender.usage.getFree() / Layout.SLAB_SIZE;
      boolean hasRoom = slabs > leases.reserve(lender);
      if (answers(lender) && !hasRoom && lender.listed) {
        full.add(name(lender));
      }
      if (isAlive(lender)) {
        living++;
        if (hasRoom || !lender.listed) { // what it has is known when it has listed it
          roomy++;
          if (!answers(lender) || !lender.listed || avoided.contains(lender.server)) {
            away.add(name(lender));
          }
        }
      }
    }
    if (!away.isEmpty() && roomy >= Math.min(copies, living)) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "no space for data but on %s, which did not answer this client, or the server with the namespace, at once; try again, start what is silent (tako status), or see what this host reaches (tako doctor URI)"
              .formatted(String.join(", ", away)));
    }
    checkClosed(copies);
    if (servers > 1 && !full.isEmpty()) {
      throw new TakoException(
          Status.NO_SPACE,
          "no space for data: a file of %d copies needs room on %d of %d servers, and full are %s; delete files, or add servers"
              .formatted(copies, Math.min(copies, servers), servers, String.join(", ", full)));
    }
  }

  /**
   * @throws TakoException UNAVAILABLE when slabs with room for such files are closed, and will be
   *     open again when servers that are silent are back, or when their copies are whole
   */
  private void checkClosed(int copies) throws TakoException {
    boolean mayOpen = false;
    Set<Integer> silent = new TreeSet<>();
    for (Slab slab : machine.slabs().all()) {
      if (slab.getClosed()
          && slab.getWanted() == copies
          && machine.slabs().freeBytesOf(slab.getId()) > 0
          && slab.getReplicasList().stream().allMatch(each -> isUp(each.getServer()))) {
        mayOpen = true;
        slab.getReplicasList().stream()
            .map(Replica::getServer)
            .filter(each -> watch.health(each) != ServerWatch.Health.UP)
            .forEach(silent::add);
      }
    }
    if (mayOpen) {
      throw new TakoException(
          Status.UNAVAILABLE,
          silent.isEmpty()
              ? "no space for data but in slabs that are being repaired; try again"
              : "no space for data but in slabs that have a copy on %s: start what is silent (tako status), delete files of other slabs, or add servers"
                  .formatted(
                      silent.stream()
                          .map(each -> name(watch.entry(each)))
                          .collect(Collectors.joining(", "))));
    }
  }

  /** Whether the map says that a server is UP, whether it answers or not. */
  private boolean isUp(int server) {
    ServerEntry entry = watch.entry(server);
    return entry != null && entry.getState() == ServerEntry.State.UP;
  }

  private String name(SlabLender lender) {
    return name(watch.entry(lender.server));
  }

  private static String name(ServerEntry entry) {
    return "server %d (%s:%d)".formatted(entry.getId(), entry.getHost(), entry.getPort());
  }

  /** Whether a server is to lend slabs and, as far as is known, runs. */
  private boolean isAlive(SlabLender lender) {
    return isUp(lender.server) && watch.health(lender.server) != ServerWatch.Health.DEAD;
  }

  /** Whether a server may lend slabs, for all that is known. */
  private boolean answers(SlabLender lender) {
    return isUp(lender.server) && !lender.failed;
  }

  /** Whether slabs may come that were asked for. */
  public boolean isAsking() {
    return leases.isAsking();
  }

  // ---- shortages

  /** The kinds of files for which there is no slab, as was noticed lately; the worst first. */
  List<Shortage> shortages() {
    long now = clock.nanoTime();
    shortages.values().removeIf(each -> now - each.lastNs >= SHORT_NS);
    List<Shortage> all = new ArrayList<>(shortages.values());
    if (kept != null && now - kept.lastNs < SHORT_NS) {
      all.add(kept);
    }
    return all;
  }

  private void note(int copies, Set<Integer> avoided) {
    shortages.put(copies, shortage(shortages.get(copies), copies, avoided, false));
  }

  /** Servers cannot lend as many slabs as they are to keep, and slabs of this kind have room. */
  void noteKept(int copies) {
    kept = shortage(kept, copies, Set.of(), true);
  }

  private Shortage shortage(Shortage former, int copies, Set<Integer> avoided, boolean isKept) {
    long now = clock.nanoTime();
    boolean isFirst = former == null || now - former.lastNs >= SHORT_NS;
    return new Shortage(copies, avoided, isKept, isFirst ? now : former.firstNs, now);
  }

  /** There is more room: those who still lack some will say so again. */
  void forgetShortages() {
    shortages.clear();
    kept = null;
  }

  /** The slabs that each server lacks to lend what such files need, by server; 0 if none. */
  Map<Integer, Long> lacking(Shortage shortage) {
    return lacking(shortage.avoided, shortage.kept);
  }

  /** The slabs that each server lacks to lend as many as it is to keep, by server; 0 if none. */
  Map<Integer, Long> lackingKept() {
    return lacking(Set.of(), true);
  }

  private Map<Integer, Long> lacking(Set<Integer> avoided, boolean isKept) {
    return leases.lenders().stream()
        .filter(lender -> isUsable(lender, avoided))
        .collect(
            Collectors.toMap(
                lender -> lender.server,
                lender -> leases.lacking(lender, isKept ? leases.reserve(lender) : 1)));
  }

  /**
   * Servers with which a slab for such files is made when so many could have a copy; all, where
   * they are to keep slabs.
   */
  int needed(Shortage shortage, int servers) {
    return shortage.kept ? servers : needed(shortage.copies, servers);
  }

  private boolean isUsable(SlabLender lender, Set<Integer> avoided) {
    return !watch.isAwaited(lender.server)
        && answers(lender)
        && !avoided.contains(lender.server)
        && lender.listed;
  }

  /** Servers with which a slab is made when so many could have a copy. */
  private int needed(int copies, int servers) {
    return Math.max(Math.min(copies, servers), Math.min(copies, copiesMin));
  }

  /** Asks servers for slabs, unless enough of them have some to spare; false when none can lend. */
  private boolean lease(int copies, int near, Set<Integer> avoided, long bytes) {
    List<SlabLender> chosen = choose(copies, near, avoided, false);
    if (chosen.isEmpty()) {
      return false;
    }
    lease(chosen, bytes, false);
    return true;
  }

  private void lease(List<SlabLender> chosen, long bytes, boolean ahead) {
    int count = (int) Math.min(LEASE_MAX, 1 + (bytes - 1) / Layout.SLAB_SIZE);
    for (SlabLender lender : chosen) {
      if (lender.spare.isEmpty()) {
        leases.lease(lender, (int) Math.min(count, lendable(lender, ahead)));
      }
    }
  }

  /** Slabs that a server can lend now; those ahead of what is written leave what it is to keep. */
  private long lendable(SlabLender lender, boolean ahead) {
    return leases.unreserved(lender) - (ahead ? leases.reserve(lender) : 0);
  }

  /**
   * Chooses as many servers as there are to be copies, or as answer, as {@link SlabPlacement} says.
   * None when too few have slabs. Racks are no reason to wait: of servers in one rack only the slab
   * is made all the same, and {@link Rebalance} moves a replica when another rack has room.
   */
  private List<SlabLender> choose(int copies, int near, Set<Integer> avoided, boolean ahead) {
    List<SlabLender> lending = new ArrayList<>();
    int answering = 0;
    int awaited = 0;
    for (SlabLender lender : leases.lenders()) {
      if (watch.isAwaited(lender.server)) {
        awaited++;
        continue;
      }
      if (!answers(lender) || avoided.contains(lender.server)) {
        continue;
      }
      answering++;
      if (lender.listed && lendable(lender, ahead) > 0) {
        lending.add(lender);
      }
    }
    int needed = needed(copies, answering + awaited);
    if (lending.isEmpty() || lending.size() < needed) {
      return List.of();
    }
    return placement.choose(lending, needed, near);
  }

  /** Makes slabs of what servers have lent, one of each. */
  private void compose(int copies, int near, Set<Integer> avoided, boolean ahead)
      throws TakoException {
    List<SlabLender> chosen = choose(copies, near, avoided, ahead);
    while (!chosen.isEmpty() && chosen.stream().noneMatch(lender -> lender.spare.isEmpty())) {
      AddSlab.Builder slab =
          AddSlab.newBuilder().setWanted(copies).setEndUnit(SlabRange.SLAB_UNITS);
      for (SlabLender lender : chosen) {
        LeasedSlab part = leases.take(lender);
        slab.addReplicas(lender.replica(part))
            .setFirstUnit(Math.max(slab.getFirstUnit(), part.getFirstUnit()))
            .setEndUnit(Math.min(slab.getEndUnit(), part.getEndUnit()));
      }
      add(slab.build());
      chosen = choose(copies, near, avoided, ahead);
    }
  }

  private void add(AddSlab slab) throws TakoException {
    try {
      Reply reply = entries.execute(entry().setAddSlab(slab).build());
      if (reply.getStatus() != Status.OK) {
        throw new TakoException(reply.getStatus(), reply.getMessage());
      }
    } catch (TakoException e) { // it is not in the log
      slab.getReplicasList().forEach(leases::giveBack);
      throw e;
    }
    slab.getReplicasList().forEach(leases::placed);
  }

  /**
   * Returns a wholly free slab that is to have another number of copies, or has one at an {@code
   * avoided} server; false when there is none.
   */
  private boolean returnOthers(int copies, Set<Integer> avoided) throws TakoException {
    for (Slab slab : machine.slabs().all()) {
      boolean isOther =
          slab.getWanted() != copies
              || slab.getReplicasList().stream()
                  .anyMatch(replica -> avoided.contains(replica.getServer()));
      if (isOther && machine.slabs().isWhollyFree(slab.getId()) && giveUp(slab)) {
        late.remove(slab.getWanted()); // or it would be leased ahead for the same files again
        return true;
      }
    }
    return false;
  }

  /**
   * Whether {@code slab} may go so that servers can lend what they are to keep: without it much is
   * free in slabs of its kind, of which {@code free} bytes are free now.
   */
  boolean mayGo(Slab slab, long free) {
    long bytes = (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE;
    long left = free - bytes;
    return left >= Layout.SLAB_SIZE
        && left * slab.getReplicasCount() >= leases.usage().getCapacity() / MUCH_OF;
  }

  /** Returns a wholly free slab to the servers; false when the group refuses that. */
  boolean giveUp(Slab slab) throws TakoException {
    Reply reply =
        entries.execute(entry().setRemoveSlab(RemoveSlab.newBuilder().setId(slab.getId())).build());
    if (reply.getStatus() == Status.OK) {
      slab.getReplicasList().forEach(leases::giveBack);
    }
    return reply.getStatus() == Status.OK;
  }

  private LogEntry.Builder entry() {
    return LogEntry.newBuilder().setTimeMs(clock.currentTimeMillis());
  }
}
