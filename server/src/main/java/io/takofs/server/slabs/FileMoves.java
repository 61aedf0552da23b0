package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.LogEntry;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.operation.MoveQueries;
import io.takofs.server.namespace.state.FilesToMove.FileToMove;
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
 * extents at a time. A file moves while nobody writes it. Repair goes first: nothing is asked for
 * while it copies. What is to be moved stands in the state.
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

  /** Files that are remembered to have to wait. */
  private static final int RESTING_MAX = 1024;

  /** Pause between two looks at the files to be moved when none of them moves. */
  private static final long WALK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Time for which a file that could not be moved is not tried again. */
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

  /** Pause between two batches of a file. */
  private static final long BETWEEN_NS = TimeUnit.MILLISECONDS.toNanos(1);

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
  private final BatchCopier copier;
  private final List<MovingFile> moving = new ArrayList<>();
  private final Map<Long, Long> resting = new HashMap<>(); // until when, by file
  private long cursor; // the file that was looked at last; 0 between two walks
  private long walkedNs;
  private boolean waits; // all of them
  private String wait = ""; // for what any of them wait
  private long files;

  public FileMoves(
      Clock clock,
      Entries entries,
      StateMachine machine,
      SlabSupply supply,
      ServerWatch watch,
      BatchCopier copier) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.supply = supply;
    this.watch = watch;
    this.copier = copier;
    this.walkedNs = clock.nanoTime() - WALK_NS;
  }

  /** Nanoseconds until the next tick is wanted; answers that are awaited ask for one. */
  public long pauseNs() {
    long pause = machine.moves().files() > 0 ? WALK_NS : Long.MAX_VALUE;
    if (waits) {
      return pause;
    }
    boolean isBetween = moving.stream().anyMatch(file -> file.batch == null);
    return Math.min(pause, isBetween ? BETWEEN_NS : copier.pauseNs());
  }

  /**
   * Does what is due.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    copier.endForgotten();
    if (machine.moves().files() == 0 && moving.isEmpty()) {
      wait = "";
      return;
    }
    waits = !copier.obstacle().isEmpty();
    if (waits) {
      wait = copier.obstacle();
      copier.excuse();
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
    if (copier.sources(extents.get(0).getSlab()).isEmpty()) {
      rest(file, "for a server with the only copy of some file");
      return;
    }
    Set<Integer> avoided = watch.avoided(0, machine.slabs().servers());
    long room =
        Layout.EXTENT_SIZE_MAX
            + extents.stream().mapToLong(e -> MoveQueries.capacityFor(e.getLength())).sum();
    if (!supply.makeRoom(copies, 0, avoided, room)) {
      waitForRoom(file, copies);
      return;
    }
    GrantMove move =
        GrantMove.newBuilder().setFileId(file.file.fileId()).addAllExtents(extents).build();
    BatchCopier.Begun begun = copier.begin(move, avoided);
    file.batch = begun.batch();
    if (!begun.refusal().isEmpty()) {
      rest(file, begun.refusal());
    } else if (file.batch == null
        && !supply.makeRoom(
            copies, 0, avoided, machine.freeBytes(copies, avoided) + Layout.SLAB_SIZE)) {
      waitForRoom(file, copies); // what is free is in pieces that are too small
    }
  }

  private void waitForRoom(MovingFile file, int copies) {
    if (!supply.isAsking()) {
      rest(file, "for room for files of %d copies".formatted(copies));
    }
  }

  private void advance(MovingFile file) throws TakoException {
    switch (copier.advance(file.batch, machine.moves().mayMove(file.file))) {
      case MOVED -> {
        file.batch = null;
        next(file); // looks again at those that have just moved
      }
      case GIVEN_UP -> {
        String why = file.batch.trouble;
        file.batch = null;
        rest(file, why);
      }
      case COPIES -> {}
    }
  }

  // ---- telling

  /** Adds how much there is to move, and was moved. */
  public RepairStatus status(RepairStatus repaired) {
    return repaired.toBuilder()
        .setFilesToMove(machine.moves().files())
        .setFilesMoved(files)
        .setBytesMoved(copier.movedBytes())
        .setMovesWait(machine.moves().files() == 0 ? "" : wait)
        .build();
  }
}
