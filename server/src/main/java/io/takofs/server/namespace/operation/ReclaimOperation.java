package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.CountInProgress;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.List;

/**
 * Empties what was detached, a bounded piece at a time. Each step is whole in itself, so running
 * out of pages between two leaves nothing half done.
 */
public final class ReclaimOperation {
  /** Entries or extents of one step. */
  private static final int STEP_MAX = 64;

  /** The factor by which a step shrinks that changes too much at once. */
  private static final int STEP_PART = 4;

  private ReclaimOperation() {}

  public static Reply apply(State state, long index, LogEntry entry) {
    int left = entry.getReclaim().getLimit();
    int stepMax = STEP_MAX;
    Detached next = Detached.first(state);
    while (left > 0 && next != null) {
      Context context = Context.of(state, index, entry);
      try {
        int done = step(context, next, Math.min(left, stepMax));
        context.tx().commit(0);
        left -= done;
        next = Detached.first(state);
      } catch (CountInProgress e) {
        context.tx().abort();
        return Replies.failure(QuotaOperation.counting(e.quota()));
      } catch (TakoException e) {
        context.tx().abort();
        if (context.tx().isTooLarge() && left < entry.getReclaim().getLimit()) {
          break; // the next entry goes on
        }
        if (stepMax == 1) {
          return Replies.failure(e);
        }
        // The last pages are enough for small steps.
        stepMax = context.tx().isTooLarge() ? stepMax / STEP_PART : 1;
      }
    }
    return Replies.done();
  }

  /** Returns what it did, counted in entries and extents, at least 1. */
  private static int step(Context context, Detached detached, int limit) {
    if (detached.hasXAttrs()
        && context.state().xattrs.removeSome(context.tx(), detached.id(), limit)) {
      return limit;
    }
    return detached.isDirectory()
        ? stepDirectory(context, detached, limit)
        : stepFile(context, detached, limit);
  }

  private static int stepFile(Context context, Detached file, int limit) {
    if (Detached.releaseExtents(context, file.id(), file.lateWriter(), limit)) {
      if (context.state().data.inline(file.id()).length > 0) {
        context.state().data.removeInline(context.tx(), file.id());
      }
      file.remove(context);
    }
    return limit;
  }

  private static int stepDirectory(Context context, Detached directory, int limit) {
    List<DirectoryEntry> children = new ArrayList<>();
    context
        .state()
        .tree
        .scan(
            directory.id(), new byte[0], child -> children.add(child) && children.size() <= limit);
    for (DirectoryEntry child : children.subList(0, Math.min(limit, children.size()))) {
      context.state().tree.remove(context.tx(), child);
      if (child.inode().directory) {
        Detached.directory(context, child, false);
      } else {
        Detached.file(context, child);
      }
    }
    if (children.size() <= limit) {
      QuotaTable quotas = context.state().quotas;
      quotas.addDetached(context.tx(), context.state().tree.parentOf(directory.id()), -1);
      Detached.removeContents(context, directory.id());
      directory.remove(context);
    }
    return Math.max(1, Math.min(limit, children.size()));
  }
}
