package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.LogEntry;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.operation.MoveQueries;
import io.takofs.server.namespace.state.FilesToMove.FileToMove;
import io.takofs.server.slabs.MoveBatch.Part;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the data of files that are to have another number of copies to slabs that have it, a few
 * extents at a time: grants the copier extents there, has the servers of all their replicas copy
 * and verify the bytes, and puts the copies in the place of the extents. A file moves while nobody
 * writes it. Repair goes first: nothing is asked for while it copies.
 *
 * <p>What is to be moved stands in the state; what was begun a leader that was started again does
 * not remember, and ends all grants of the copier before it begins.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class FileMoves {
  private static final Logger LOG = LoggerFactory.getLogger(FileMoves.class);

  /** Files that move at a time. */
  private static final int FILES_MAX = 4;

  /** Files that one tick looks at for the next to be moved: some are open, or have to wait. */
  private static final int LOOK_MAX = 64;

  /** Extents of a file that one tick looks at. */
  private static final int EXTENTS_MAX = 512;

  /** Grants that one entry ends. */
  private static final int ENDED_MAX = 16;

  /** Files that are remembered to have to wait. */
  private static final int RESTING_MAX = 1024;

  /** Pause between two looks at the files to be moved when none of them moves. */
  private static final long WALK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Time for which a file that could not be moved is not tried again. */
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

  /** A batch of which nothing has come for so long is given up. */
  private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);

  /** Pause between two questions how far a copy has come: short after one that brought news. */
  private static final long POLL_MIN_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long POLL_MAX_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** A file that moves, and how far it was looked at. */
  private static final class MovingFile {
    final FileToMove file;
    long position;
    MoveBatch batch; // null while none is copied

    MovingFile(FileToMove file) {
      this.file = file;
    }
  }

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final SlabSupply supply;
  private final ServerWatch watch;
  private final SlabRepair repair;
  private final List<MovingFile> moving = new ArrayList<>();
  private final Map<Long, Long> resting = new HashMap<>(); // until when, by file
  private long cursor; // the file that was looked at last; 0 between two walks
  private long walkedNs;
  private boolean waits; // all of them
  private String wait = ""; // for what any of them wait
  private long files;
  private long bytes;

  /**
   * @param repair which goes first, and knows from where to copy
   */
  public FileMoves(
      Clock clock,
      Entries entries,
      StateMachine machine,
      SlabSupply supply,
      ServerWatch watch,
      SlabRepair repair) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.supply = supply;
    this.watch = watch;
    this.repair = repair;
    this.walkedNs = clock.nanoTime() - WALK_NS;
  }

  /** Whether servers are asked to copy. */
  public boolean isCopying() {
    return moving.stream().anyMatch(file -> file.batch != null);
  }

  /** Nanoseconds until the next tick is wanted; answers that are awaited ask for one. */
  public long pauseNs() {
    long pause = machine.moves().files() > 0 ? WALK_NS : Long.MAX_VALUE;
    for (MovingFile file : waits ? List.<MovingFile>of() : moving) {
      pause = Math.min(pause, file.batch == null ? POLL_MIN_NS : pauseNs(file.batch));
    }
    return pause;
  }

  private static long pauseNs(MoveBatch batch) {
    return batch.parts.stream()
        .filter(part -> !part.isAsked && !batch.isDone(part))
        .mapToLong(part -> Math.max(POLL_MIN_NS, part.pauseNs))
        .min()
        .orElse(batch.isDone() ? POLL_MIN_NS : Long.MAX_VALUE);
  }

  /**
   * Does what is due.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    if (!isCopying()) {
      endForgotten();
    }
    if (machine.moves().files() == 0 && moving.isEmpty()) {
      wait = "";
      return;
    }
    waits = repair.isCopying() || watch.isAlone();
    if (waits) {
      wait = repair.isCopying() ? "for repair" : "for servers, of which most are silent";
      long now = clock.nanoTime();
      moving.stream().filter(each -> each.batch != null).forEach(e -> e.batch.progressNs = now);
      return;
    }
    look();
    for (MovingFile file : List.copyOf(moving)) {
      if (file.batch == null) {
        next(file);
      }
      if (file.batch != null) {
        advance(file);
      }
    }
  }

  /** The copier's grants that no batch has, because an earlier leader began them. */
  private void endForgotten() throws TakoException {
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
      LOG.debug("a file does not move: {}", reply.getMessage());
    }
    return reply;
  }

  // ---- which file

  private void look() {
    long now = clock.nanoTime();
    if (moving.size() == FILES_MAX || (cursor == 0 && now - walkedNs < WALK_NS)) {
      return;
    }
    if (cursor == 0) {
      walkedNs = now;
      resting.values().removeIf(until -> now - until >= 0);
      wait = resting.isEmpty() ? "" : wait;
    }
    List<FileToMove> next = machine.moves().filesAfter(cursor, LOOK_MAX);
    for (FileToMove file : next) {
      if (moving.size() == FILES_MAX) {
        return;
      }
      cursor = file.fileId();
      if (!machine.moves().mayMove(file)) {
        wait = wait.isEmpty() ? "until files are closed" : wait;
      } else if (!resting.containsKey(file.fileId())
          && moving.stream().noneMatch(each -> each.file.fileId() == file.fileId())) {
        moving.add(new MovingFile(file));
      }
    }
    if (next.size() < LOOK_MAX) {
      cursor = 0;
    }
  }

  /** The file is not tried for a while. */
  private void rest(MovingFile file, String why) {
    moving.remove(file);
    wait = why;
    if (resting.size() < RESTING_MAX) {
      resting.put(file.file.fileId(), clock.nanoTime() + REST_NS);
    }
  }

  // ---- which of its extents

  /** Begins with the next extents of a file, or says that it has no more. */
  private void next(MovingFile file) throws TakoException {
    int copies = machine.moves().mayMove(file.file) ? machine.moves().copies(file.file) : 0;
    if (copies == 0) { // gone, or open: then it is found again when it is closed
      moving.remove(file);
      return;
    }
    MoveQueries.Next next = machine.moves().next(file.file, file.position, copies, EXTENTS_MAX);
    if (!next.extents().isEmpty()) {
      file.position = next.extents().get(0).getFileOffset();
      grant(file, next.extents(), copies);
      return;
    }
    file.position = next.end();
    if (next.isAll()) {
      EndMove.Builder end =
          EndMove.newBuilder().setFileId(file.file.fileId()).setAsked(file.file.asked());
      if (log(entry().setEndMove(end)).getStatus() == Status.OK) {
        files++;
      }
      moving.remove(file);
    }
  }

  private void grant(MovingFile file, List<Extent> extents, int copies) throws TakoException {
    List<Replica> sources = sources(extents.get(0).getSlab());
    if (sources.isEmpty()) {
      rest(file, "for a server with the only copy of some file");
      return;
    }
    int near = sources.get(0).getServer();
    Set<Integer> avoided = watch.avoided(0, machine.slabs().servers());
    long room =
        Layout.EXTENT_SIZE_MAX
            + extents.stream().mapToLong(e -> MoveQueries.capacityFor(e.getLength())).sum();
    if (!supply.makeRoom(copies, 0, avoided, room)) {
      waitForRoom(file, copies);
      return;
    }
    LogEntry.Builder entry =
        entry()
            .setNearServer(near)
            .addAllAvoidedServers(avoided)
            .setGrantMove(
                GrantMove.newBuilder().setFileId(file.file.fileId()).addAllExtents(extents));
    Reply reply = log(entry);
    List<Extent> granted = reply.getGrants().getExtentsList();
    if (reply.getStatus() != Status.OK) {
      rest(file, reply.getMessage());
    } else if (!granted.isEmpty()) {
      Slab target = machine.slabs().get(granted.get(0).getSlab());
      List<Extent> from = extents.subList(0, granted.size());
      file.batch = new MoveBatch(file.file.fileId(), from, granted, target, clock.nanoTime());
    } else if (!supply.makeRoom(
        copies, 0, avoided, machine.freeBytes(copies, avoided) + Layout.SLAB_SIZE)) {
      waitForRoom(file, copies); // what is free is in pieces that are too small
    }
  }

  private void waitForRoom(MovingFile file, int copies) {
    if (!supply.isAsking()) {
      rest(file, "for room for files of %d copies".formatted(copies));
    }
  }

  private List<Replica> sources(long slab) {
    Slab from = machine.slabs().get(slab);
    return from == null ? List.of() : repair.sources(from);
  }

  // ---- copying them

  private void advance(MovingFile file) throws TakoException {
    MoveBatch batch = file.batch;
    Slab target = machine.slabs().get(batch.target.getId());
    if (target == null || target.getClosed() || target.getVersion() != batch.target.getVersion()) {
      giveUp(file, "the slab that it moves to has changed");
    } else if (!machine.moves().mayMove(file.file)) {
      giveUp(file, "it is open, gone, or to have another number of copies again");
    } else if (batch.isDone() && repair.isIntact(target)) {
      finish(file);
    } else if (clock.nanoTime() - batch.progressNs >= patienceNs()) {
      giveUp(file, batch.trouble);
    } else {
      long now = clock.nanoTime();
      for (Part part : batch.parts) {
        boolean due = part.askedNs == 0 || now - part.askedNs >= part.pauseNs;
        if (!part.isAsked && due && !batch.isDone(part)) {
          ask(batch, part);
        }
      }
    }
  }

  private void ask(MoveBatch batch, Part part) {
    part.askedNs = clock.nanoTime();
    int server = part.replica.getServer();
    List<Replica> sources = new ArrayList<>(sources(batch.sourceSlab));
    if (sources.isEmpty()) {
      part.pauseNs = POLL_MAX_NS;
      return;
    }
    sources.sort(
        (one, other) -> // its own copy costs no connection
        Boolean.compare(other.getServer() == server, one.getServer() == server));
    List<Integer> asked = batch.pending(part);
    part.isAsked = true;
    repair.copy(
        batch.question(part, asked).addAllSources(sources).setBytesPerSecond(share()),
        reply -> answered(batch, part, asked, reply));
  }

  private void answered(MoveBatch batch, Part part, List<Integer> asked, Reply reply) {
    part.isAsked = false;
    long copied = 0;
    if (reply.getStatus() == Status.OK) {
      copied = batch.take(part, asked, reply.getCopyProgress(), clock.nanoTime());
      Slab source = machine.slabs().get(batch.sourceSlab);
      if (source != null) {
        reply.getCopyProgress().getFailedList().stream()
            .filter(CopyFailure::getWrongBytes)
            .forEach(failure -> repair.damaged(source, failure.getSource()));
      }
    } else {
      batch.trouble = reply.getMessage();
    }
    part.pauseNs =
        copied > 0 ? newsNs() : Math.min(POLL_MAX_NS, Math.max(newsNs(), 2 * part.pauseNs));
  }

  /** The pause after news: with a limit the next extent takes a while. */
  private long newsNs() {
    return Math.max(POLL_MIN_NS, Math.min(POLL_MAX_NS, lastsNs(Layout.EXTENT_SIZE_MAX)));
  }

  /** How long nothing may come of a batch: the others may come first. */
  private long patienceNs() {
    long bytes =
        moving.stream()
            .filter(file -> file.batch != null)
            .mapToLong(file -> file.batch.bytes())
            .sum();
    return STUCK_NS + 2 * lastsNs(bytes);
  }

  private long lastsNs(long length) {
    return share() == 0 ? 0 : (long) (1e9 * length / share());
  }

  /** The limit is for all servers together; each keeps to its share whatever it copies. */
  private long share() {
    long busy =
        moving.stream()
            .filter(file -> file.batch != null)
            .flatMap(file -> file.batch.parts.stream())
            .map(part -> part.replica.getServer())
            .distinct()
            .count();
    long bandwidth = repair.bandwidth();
    return bandwidth == 0 ? 0 : Math.max(1, bandwidth / Math.max(1, busy));
  }

  /** Every replica has the bytes. */
  private void finish(MovingFile file) throws TakoException {
    Reply reply = log(entry().setMoveExtents(file.batch.move()));
    if (reply.getStatus() != Status.OK) {
      giveUp(file, reply.getMessage());
      return;
    }
    bytes += reply.getGrants().getExtentsList().stream().mapToLong(Extent::getLength).sum();
    file.batch = null;
    next(file); // looks again at those that have just moved
  }

  private void giveUp(MovingFile file, String why) throws TakoException {
    Facts.of("file", Long.toHexString(file.file.fileId()))
        .info(LOG, "some extents of a file are not moved now: " + why);
    log(entry().setEndMove(file.batch.end()));
    file.batch = null;
    rest(file, why);
  }

  // ---- telling

  /** Adds how much there is to move, and was moved. */
  public RepairStatus status(RepairStatus repaired) {
    return repaired.toBuilder()
        .setFilesToMove(machine.moves().files())
        .setFilesMoved(files)
        .setBytesMoved(bytes)
        .setMovesWait(machine.moves().files() == 0 ? "" : wait)
        .build();
  }
}
