package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.ContentCursor;
import io.takofs.proto.ContentSummaryPart;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;

/**
 * Counts a bounded part of a tree, because everybody waits meanwhile, and says where to go on.
 *
 * <p>A directory is visited before its entries, entries in the order of their names. A cursor names
 * the last entry visited; all that is after it in this order remains, whether it is still there or
 * not. So what stays at its place is counted once, and each call gets further.
 */
public final class ContentSummaryQuery {
  /** Entries that a call visits at most; about a millisecond. */
  public static final int VISITS_MAX = 4096;

  /** The weight of a directory: finding its entries takes as long as several files. */
  public static final int DIRECTORY_VISITS = 4;

  /** Names in a cursor, bytes; beside the longest path it fits a request. */
  static final int CURSOR_MAX = 4096;

  /** Cursors in a reply, which they must fit whatever they name. */
  public static final int CURSORS_MAX = 64;

  /** The bytes that Protocol Buffers adds to a name, at most. */
  private static final int NAME_OVERHEAD = 3;

  private static final byte[] NO_NAME = {};

  /** A directory being visited. */
  private static final class Level {
    final long id;

    /** The last of its entries that was visited. */
    byte[] last = NO_NAME;

    Level(long id) {
      this.id = id;
    }
  }

  private final State state;
  private final Caller caller;
  private final FilePath path;
  private final ContentSummaryPart.Builder sum = ContentSummaryPart.newBuilder();
  private final Deque<Level> levels = new ArrayDeque<>();

  /** The directory whose visit this is: where it hangs, or nothing when it is the path's own. */
  private ContentCursor top = ContentCursor.getDefaultInstance();

  /** Names of {@link #levels} as they are in a cursor, bytes. */
  private int cursorBytes;

  private int visits;

  private ContentSummaryQuery(State state, Caller caller, FilePath path) {
    this.state = state;
    this.caller = caller;
    this.path = path;
  }

  /**
   * Counts up to {@link #VISITS_MAX} entries.
   *
   * @throws TakoException NOT_FOUND at the beginning only: what is removed later has nothing left
   *     to count; PERMISSION_DENIED for a directory that the caller may not list
   */
  public static Reply apply(State state, Caller caller, GetContentSummary request)
      throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    ContentSummaryQuery query = new ContentSummaryQuery(state, caller, path);
    if (request.hasCursor()) {
      query.resume(request.getCursor());
    } else {
      query.visit(state.tree.lookup(path, caller));
    }
    query.visitRest();
    return Reply.newBuilder().setContentSummary(query.sum).build();
  }

  private void resume(ContentCursor cursor) throws TakoException {
    top = cursor.toBuilder().clearVisited().build();
    DirectoryEntry at = start(cursor);
    Iterator<ByteString> names = cursor.getVisitedList().iterator();
    while (at != null && at.inode().directory && !isTooDeep()) {
      enter(at.inode());
      if (!names.hasNext()) {
        return;
      }
      byte[] name = checked(names.next());
      long id = levels.element().id;
      moveTo(name);
      at = state.tree.get(id, name);
    }
  }

  /** The directory that a cursor's names are below, or null when it is gone. */
  private DirectoryEntry start(ContentCursor cursor) throws TakoException {
    try {
      DirectoryEntry top = state.tree.lookup(path, caller);
      if (cursor.getName().isEmpty()) {
        return top;
      }
      byte[] name = checked(cursor.getName());
      return isAtOrBelow(cursor.getParentId(), top.inode().id)
          ? state.tree.get(cursor.getParentId(), name)
          : null;
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND || e.status() == Status.NOT_A_DIRECTORY) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Whether a directory that has entries is still part of a tree. A cursor comes from the client,
   * which may name any directory in it.
   */
  private boolean isAtOrBelow(long directoryId, long topId) {
    long at = directoryId;
    while (at != topId && at != Ids.ROOT_PARENT && !Detached.isDetached(state, at)) {
      at = state.tree.parentOf(at);
    }
    return at == topId;
  }

  private static byte[] checked(ByteString name) throws TakoException {
    if (name.size() > Limits.NAME_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a cursor has a name of %d bytes".formatted(name.size()));
    }
    return name.toByteArray();
  }

  private void visitRest() throws TakoException {
    while (!levels.isEmpty() && !isFull()) {
      DirectoryEntry below = visitUpToDirectory(levels.element());
      if (below != null) {
        visit(below);
      } else if (!isFull()) {
        leave();
      }
    }
    // A directory that is not left yet may have nothing more; the next call finds out. Left, its
    // name would be where its entries begin.
    if (!levels.isEmpty()) {
      sum.addRemaining(cursor());
    }
  }

  private boolean isFull() {
    return visits >= VISITS_MAX || sum.getRemainingCount() >= CURSORS_MAX - 1;
  }

  /** Visits files until there is a directory, which it returns, or no more, or no more may be. */
  private DirectoryEntry visitUpToDirectory(Level level) {
    DirectoryEntry[] found = {null};
    // The smallest name after another is that one with a zero byte added.
    byte[] from =
        level.last.length == 0 ? NO_NAME : Arrays.copyOf(level.last, level.last.length + 1);
    state.tree.scan(
        level.id,
        from,
        entry -> {
          moveTo(entry.name());
          if (entry.inode().directory) {
            found[0] = entry;
            return false;
          }
          addFile(entry.inode());
          return !isFull();
        });
    return found[0];
  }

  private void visit(DirectoryEntry entry) throws TakoException {
    if (!entry.inode().directory) {
      addFile(entry.inode());
      return;
    }
    visits += DIRECTORY_VISITS;
    sum.setDirectoryCount(sum.getDirectoryCount() + 1);
    if (isTooDeep()) {
      sum.addRemaining(
          ContentCursor.newBuilder()
              .setParentId(entry.parentId())
              .setName(ByteString.copyFrom(entry.name())));
    } else {
      enter(entry.inode());
    }
  }

  private void addFile(Inode inode) {
    visits++;
    sum.setFileCount(sum.getFileCount() + 1)
        .setLength(sum.getLength() + inode.length)
        .setSpaceConsumed(sum.getSpaceConsumed() + inode.length * inode.replication);
  }

  // ---- the place -------------------------------------------------------------------------------

  private void enter(Inode directory) throws TakoException {
    int access = Permissions.READ | Permissions.EXECUTE;
    if (!Permissions.allows(caller, directory, access)) {
      Permissions.require(caller, directory, access, describe());
    }
    levels.push(new Level(directory.id));
  }

  /** Whether the names of what is below the last entry visited may not fit a cursor. */
  private boolean isTooDeep() {
    return cursorBytes + Limits.NAME_MAX + NAME_OVERHEAD > CURSOR_MAX;
  }

  private void leave() {
    cursorBytes -= bytes(levels.pop().last);
  }

  private void moveTo(byte[] name) {
    Level level = levels.element();
    cursorBytes += bytes(name) - bytes(level.last);
    level.last = name;
  }

  private static int bytes(byte[] name) {
    return name.length == 0 ? 0 : name.length + NAME_OVERHEAD;
  }

  private ContentCursor cursor() {
    ContentCursor.Builder cursor = top.toBuilder();
    for (Iterator<Level> down = levels.descendingIterator(); down.hasNext(); ) {
      byte[] name = down.next().last;
      if (name.length > 0) {
        cursor.addVisited(ByteString.copyFrom(name));
      }
    }
    return cursor.build();
  }

  /** The path of the last entry visited, for messages. */
  private String describe() {
    StringBuilder text = new StringBuilder(path.isRoot() ? "" : path.toString());
    if (!top.getName().isEmpty()) {
      text.append("/.../").append(top.getName().toStringUtf8());
    }
    for (Iterator<Level> down = levels.descendingIterator(); down.hasNext(); ) {
      text.append('/').append(new String(down.next().last, UTF_8));
    }
    return text.length() == 0 ? "/" : text.toString();
  }
}
