package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.slabs.MoveBatch.Part;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves extents in batches: grants the copier extents in a slab of the kind that they are to be in,
 * has the servers of all its replicas copy and verify the bytes, and puts the copies in the place
 * of the extents.
 *
 * <p>A leader that was started again knows of no batch, and ends all grants of the copier before it
 * begins one.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class BatchCopier {
  private static final Logger LOG = LoggerFactory.getLogger(BatchCopier.class);

  /** Grants that one entry ends. */
  private static final int ENDED_MAX = 16;

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final ServerWatch watch;
  private final SlabRepair repair;
  private final Set<MoveBatch> running =
      new LinkedHashSet<>(); // whose order is the same in each JVM
  private long bytes;

  /**
   * @param repair which goes first, and knows from where to copy
   */
  public BatchCopier(
      Clock clock, Entries entries, StateMachine machine, ServerWatch watch, SlabRepair repair) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.watch = watch;
    this.repair = repair;
  }

  /** Whether servers are asked to copy. */
  public boolean isCopying() {
    return !running.isEmpty();
  }

  /** For what all batches have to wait now; empty when they go on. */
  String obstacle() {
    if (repair.isCopying()) {
      return "for repair";
    }
    return watch.isAlone() ? "for servers, of which most are silent" : "";
  }

  /**
   * Nanoseconds until {@link #advance} is wanted; answers that are awaited ask for it themselves.
   */
  long pauseNs() {
    return running.stream().mapToLong(BatchCopier::pauseNs).min().orElse(Long.MAX_VALUE);
  }

  private static long pauseNs(MoveBatch batch) {
    return batch.parts.stream()
        .filter(part -> !part.isAsked && !batch.isDone(part))
        .mapToLong(part -> Math.max(CopyPace.POLL_MIN_NS, part.pauseNs))
        .min()
        .orElse(batch.isDone() ? CopyPace.POLL_MIN_NS : Long.MAX_VALUE);
  }

  /** Bytes of files that have moved, counted once whatever the copies. */
  long movedBytes() {
    return bytes;
  }

  /**
   * Ends the copier's grants that no batch has, because an earlier leader began them.
   *
   * @throws TakoException when the log takes no entry
   */
  public void endForgotten() throws TakoException {
    if (isCopying()) {
      return;
    }
    List<Extent> grants = machine.moves().copierGrants();
    for (int i = 0; i < grants.size(); i += ENDED_MAX) {
      List<Extent> some = grants.subList(i, Math.min(grants.size(), i + ENDED_MAX));
      log(entry().setEndMove(EndMove.newBuilder().addAllGrants(some)));
    }
  }

  private LogEntry.Builder entry() {
    return LogEntry.newBuilder().setTimeMs(clock.currentTimeMillis());
  }

  private Reply log(LogEntry.Builder entry) throws TakoException {
    Reply reply = entries.execute(entry.build());
    if (reply.getStatus() != Status.OK) {
      LOG.debug("extents do not move: {}", reply.getMessage());
    }
    return reply;
  }

  // ---- beginning

  /**
   * The outcome of {@link #begin}: a batch, or the reason why the group refuses it, or neither when
   * there is no room.
   */
  record Begun(MoveBatch batch, String refusal) {}

  /**
   * Begins to move extents of one file, all of one slab, of which a server must have a copy.
   *
   * @param avoided servers that must have none of the copies
   * @throws TakoException when the log takes no entry
   */
  Begun begin(GrantMove move, Set<Integer> avoided) throws TakoException {
    List<Extent> extents = move.getExtentsList();
    int near = sources(extents.get(0).getSlab()).get(0).getServer();
    Reply reply = log(entry().setNearServer(near).addAllAvoidedServers(avoided).setGrantMove(move));
    List<Extent> granted = reply.getGrants().getExtentsList();
    if (reply.getStatus() != Status.OK) {
      return new Begun(null, reply.getMessage());
    }
    if (granted.isEmpty()) {
      return new Begun(null, "");
    }
    Slab target = machine.slabs().get(granted.get(0).getSlab());
    GrantMove done =
        move.toBuilder().clearExtents().addAllExtents(extents.subList(0, granted.size())).build();
    MoveBatch batch = new MoveBatch(done, granted, target, clock.nanoTime());
    running.add(batch);
    return new Begun(batch, "");
  }

  /** The replicas to copy from, of a slab that may be gone. */
  List<Replica> sources(long slab) {
    Slab from = machine.slabs().get(slab);
    return from == null ? List.of() : repair.sources(from);
  }

  // ---- copying

  /** Nothing can come of any batch at the moment. */
  void excuse() {
    running.forEach(batch -> batch.progressNs = clock.nanoTime());
  }

  /** The state of a batch. */
  enum Progress {
    COPIES,
    MOVED,
    GIVEN_UP
  }

  /**
   * Goes on with a batch.
   *
   * @param isWanted whether it is to go on
   * @throws TakoException when the log takes no entry
   */
  Progress advance(MoveBatch batch, boolean isWanted) throws TakoException {
    Slab target = machine.slabs().get(batch.target.getId());
    if (target == null || target.getClosed() || target.getVersion() != batch.target.getVersion()) {
      return giveUp(batch, "the slab that it moves to has changed");
    }
    if (!isWanted) {
      return giveUp(batch, "it is open, gone, or to stay where it is");
    }
    if (batch.isDone() && repair.isIntact(target)) {
      return finish(batch);
    }
    if (clock.nanoTime() - batch.progressNs >= patienceNs()) {
      return giveUp(batch, batch.trouble);
    }
    long now = clock.nanoTime();
    for (Part part : batch.parts) {
      boolean due = part.askedNs == 0 || now - part.askedNs >= part.pauseNs;
      if (!part.isAsked && due && !batch.isDone(part)) {
        ask(batch, part);
      }
    }
    return Progress.COPIES;
  }

  private void ask(MoveBatch batch, Part part) {
    part.askedNs = clock.nanoTime();
    int server = part.replica.getServer();
    List<Replica> sources = new ArrayList<>(sources(batch.sourceSlab));
    if (sources.isEmpty()) {
      part.pauseNs = CopyPace.POLL_MAX_NS;
      return;
    }
    sources.sort(
        (one, other) -> // its own copy costs no connection
        Boolean.compare(other.getServer() == server, one.getServer() == server));
    List<Integer> asked = batch.pending(part);
    part.isAsked = true;
    repair.copy(
        batch
            .question(part, asked)
            .addAllSources(sources)
            .setBytesPerSecond(pace().bytesPerSecond()),
        reply -> answered(batch, part, asked, reply));
  }

  private void answered(MoveBatch batch, Part part, List<Integer> asked, Reply reply) {
    part.isAsked = false;
    long copied = 0;
    if (reply.getStatus() == Status.OK) {
      copied = batch.take(part, asked, reply.getCopyProgress(), clock.nanoTime());
      reply.getCopyProgress().getFailedList().stream()
          .filter(failure -> failure.getWrongBytes() && failure.getIndex() < asked.size())
          .forEach(failure -> damaged(batch, asked.get(failure.getIndex()), failure.getSource()));
    } else {
      batch.trouble = reply.getMessage();
    }
    part.pauseNs = pace().pauseNs(copied > 0, part.pauseNs);
  }

  /**
   * A server has other bytes than the extent. It is not to blame when the file has lost the extent
   * since, because another file may have bytes there by now.
   */
  private void damaged(MoveBatch batch, int number, int server) {
    if (machine.moves().isPresent(batch.fileId, batch.from(number))) {
      repair.damaged(machine.slabs().get(batch.sourceSlab), server);
    }
  }

  /** A batch of which nothing has come for so long is given up. */
  long patienceNs() {
    return pace().patienceNs(running.stream().mapToLong(MoveBatch::bytes).sum());
  }

  private CopyPace pace() {
    long busy =
        running.stream()
            .flatMap(batch -> batch.parts.stream())
            .map(part -> part.replica.getServer())
            .distinct()
            .count();
    return CopyPace.of(repair.bandwidth(), busy);
  }

  /** Every replica has the bytes. */
  private Progress finish(MoveBatch batch) throws TakoException {
    Reply reply = log(entry().setMoveExtents(batch.move()));
    if (reply.getStatus() != Status.OK) {
      return giveUp(batch, reply.getMessage());
    }
    bytes += reply.getGrants().getExtentsList().stream().mapToLong(Extent::getLength).sum();
    running.remove(batch);
    return Progress.MOVED;
  }

  private Progress giveUp(MoveBatch batch, String why) throws TakoException {
    Facts.of("file", Long.toHexString(batch.fileId))
        .info(LOG, "some extents of a file are not moved now: " + why);
    log(entry().setEndMove(batch.end()));
    batch.trouble = why;
    running.remove(batch);
    return Progress.GIVEN_UP;
  }
}
