package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import java.util.ArrayList;
import java.util.List;

/**
 * The effect of a rename on quotas: those that only the source counted against have so much less,
 * those that only the target does so much more. How much a directory is, is known when it has a
 * quota itself; else it is given one without limits, for as long as it takes to count it.
 */
final class QuotaMove {
  private final Context context;
  private final List<Long> left;
  private final List<Long> entered;
  private Quota own;
  private long names;
  private long space;

  /** Counts what moves, at least a first part of it. */
  QuotaMove(Context context, DirectoryEntry moved, DirectoryEntry from, DirectoryEntry to) {
    this.context = context;
    QuotaTable quotas = context.state().quotas;
    quotas.removeIdle(context.tx(), moved.inode().id);
    left = new ArrayList<>(quotas.over(from));
    entered = new ArrayList<>(quotas.over(to));
    List<Long> common = new ArrayList<>(left);
    common.retainAll(entered);
    left.removeAll(common);
    entered.removeAll(common);
    if (!left.isEmpty() || !entered.isEmpty()) {
      measure(quotas, moved.inode());
    }
  }

  private void measure(QuotaTable quotas, Inode inode) {
    if (!inode.directory) {
      names = 1;
      space = QuotaTable.space(context.state(), inode);
      return;
    }
    own = quotas.get(inode.id);
    if (own == null) {
      own = QuotaCount.begin(context, Quota.none(inode.id));
    }
    names = own.names();
    space = own.space();
  }

  /**
   * The count that must be finished before anything is renamed, or null. The caller keeps what was
   * begun, and changes nothing else.
   */
  Quota counting() {
    return own != null && own.counting() ? own : null;
  }

  /**
   * Charges what moves.
   *
   * @throws TakoException QUOTA_EXCEEDED, UNAVAILABLE
   */
  void charge() throws TakoException {
    QuotaTable quotas = context.state().quotas;
    quotas.add(context.tx(), left, -names, -space);
    quotas.charge(context, entered, names, space);
    if (own != null && own.isIdle()) {
      quotas.remove(context.tx(), own.id());
    }
  }

  /**
   * Nothing is renamed, because of {@code why}. A quota that an earlier entry made for this rename
   * goes, and whatever else the entry was to change does not happen.
   *
   * @throws TakoException {@code why}, when there is none, or the rename will be tried again
   */
  Reply fail(TakoException why) throws TakoException {
    context.tx().abort();
    QuotaTable quotas = context.state().quotas;
    Quota left = own == null ? null : quotas.get(own.id());
    if (left == null || !left.isIdle() || why.status() == Status.UNAVAILABLE) {
      throw why;
    }
    quotas.remove(context.tx(), left.id());
    return Replies.failure(why);
  }
}
