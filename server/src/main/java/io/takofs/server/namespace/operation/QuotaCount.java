package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Reply;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.CountInProgress;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import io.takofs.server.store.OrderedMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Counting what a directory has that is given a quota, in bounded steps: depth first, and where it
 * is stands in records {@code W id level} (directory u64, name of the last entry visited). A quota
 * below is counted as what it says.
 *
 * <p>Nothing below the directory is changed until it is finished ({@link CountInProgress}); callers
 * try again. A count that goes on while names move between what was visited and what was not could
 * be kept right only with much bookkeeping in every operation. Quotas are set rarely, and a million
 * entries take a second. One directory is counted at a time, so that no count meets another.
 */
public final class QuotaCount {
  /** Entries visited by one step; about a millisecond. */
  static final int VISITS_MAX = 4096;

  /**
   * Directories entered or left by one step, which bounds the records it changes: half of the room
   * without which no other call is admitted, so that a count can end when the store is full.
   */
  private static final int MOVES_MAX = 32;

  private static final byte[] NO_NAME = {};

  /** A directory on the way down, and how far it was visited. */
  private static final class Level {
    final long id;
    byte[] last;

    Level(long id, byte[] last) {
      this.id = id;
      this.last = last;
    }
  }

  private final Context context;
  private final State state;
  private final List<Level> levels;
  private int visits;
  private int moves;
  private int lowest;
  private long names;
  private long space;

  private QuotaCount(Context context, List<Level> levels) {
    this.context = context;
    this.state = context.state();
    this.levels = levels;
    this.lowest = levels.size();
  }

  /**
   * Gives a directory, which has none, a quota; a first step counts what it has, and all of it when
   * that is not much.
   *
   * @throws CountInProgress when it is much, and another directory is being counted
   */
  static Quota begin(Context context, Quota quota) {
    List<Level> levels = new ArrayList<>();
    levels.add(new Level(quota.id(), NO_NAME));
    Quota other = context.state().quotas.counting();
    Quota begun = new QuotaCount(context, levels).step(quota.withMore(1, 0), 0);
    if (begun.counting() && other != null) {
      throw new CountInProgress(other);
    }
    return begun;
  }

  /** Another step of the count in progress. */
  public static Reply apply(Context context) throws TakoException {
    Quota quota = context.state().quotas.counting();
    if (quota != null) {
      List<Level> levels = read(context, quota.id());
      new QuotaCount(context, levels).step(quota, levels.size());
    }
    return Replies.done();
  }

  private Quota step(Quota quota, int levelsBefore) {
    while (!levels.isEmpty() && visits < VISITS_MAX && moves < MOVES_MAX) {
      visitTop();
    }
    for (int level = lowest; level < levels.size(); level++) {
      Level at = levels.get(level);
      byte[] value = new ByteWriter(8 + at.last.length).u64(at.id).raw(at.last).toBytes();
      context.tx().put(map(context), Keys.of(Keys.QUOTA_COUNT, quota.id(), level), value);
    }
    for (int level = levels.size(); level < levelsBefore; level++) {
      context.tx().remove(map(context), Keys.of(Keys.QUOTA_COUNT, quota.id(), level));
    }
    Quota counted = quota.withMore(names, space).withCounting(!levels.isEmpty());
    state.quotas.put(context.tx(), counted);
    return counted;
  }

  /** Visits files of the lowest directory until there is one to enter, or no more. */
  private void visitTop() {
    int top = levels.size() - 1;
    lowest = Math.min(lowest, top);
    Level level = levels.get(top);
    // The smallest name after another is that one with a zero byte added.
    byte[] from =
        level.last.length == 0 ? NO_NAME : Arrays.copyOf(level.last, level.last.length + 1);
    DirectoryEntry[] below = {null};
    state.tree.scan(
        level.id,
        from,
        entry -> {
          visits++;
          level.last = entry.name();
          if (entry.inode().directory) {
            below[0] = entry;
            return false;
          }
          names++;
          space += QuotaTable.space(state, entry.inode(), state.data.last(entry.inode()));
          return visits < VISITS_MAX;
        });
    if (below[0] != null) {
      visitDirectory(below[0].inode().id);
    } else if (visits < VISITS_MAX) {
      levels.remove(top);
      moves++;
    }
  }

  private void visitDirectory(long id) {
    Quota own = state.quotas.get(id);
    if (own != null) {
      if (own.counting()) {
        throw new CountInProgress(own);
      }
      names += own.names();
      space += own.space();
    } else {
      names++;
      levels.add(new Level(id, NO_NAME));
      moves++;
    }
  }

  private static List<Level> read(Context context, long id) {
    List<Level> levels = new ArrayList<>();
    map(context)
        .scanPrefix(
            Keys.of(Keys.QUOTA_COUNT, id),
            (key, value) -> {
              ByteReader in = new ByteReader(value);
              return levels.add(new Level(in.u64(), in.rest()));
            });
    return levels;
  }

  private static OrderedMap map(Context context) {
    return context.state().store.server();
  }
}
