package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.GetQuota;
import io.takofs.proto.QuotaStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;

/**
 * Setting and looking at a directory's quota. A limit below what there is already is set all the
 * same: nothing more fits then.
 */
public final class QuotaOperation {
  private QuotaOperation() {}

  public static Reply set(Context context, SetQuota request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    QuotaTable quotas = context.state().quotas;
    Inode inode = context.state().tree.lookup(path, context.caller()).inode();
    if (!context.caller().getSuperuser()) {
      throw new TakoException(
          Status.PERMISSION_DENIED, "only the superuser may set the quota of " + path);
    }
    if (!inode.directory) {
      throw new TakoException(
          Status.NOT_A_DIRECTORY, path + " is a file; only directories have a quota");
    }
    check(request, path);
    Quota before = quotas.get(inode.id);
    if (before != null && before.counting()) {
      throw counting(before);
    }
    Quota changed = before == null ? Quota.none(inode.id) : before;
    changed =
        changed.withLimits(
            request.hasNames() ? request.getNames() : changed.namesMax(),
            request.hasSpace() ? request.getSpace() : changed.spaceMax(),
            path);
    if (changed.hasLimit()) {
      if (before == null) {
        QuotaCount.begin(context, changed);
      } else {
        quotas.put(context.tx(), changed);
      }
    } else if (before != null) {
      end(context, before);
    }
    return Replies.done();
  }

  private static void check(SetQuota request, FilePath path) throws TakoException {
    boolean names = !request.hasNames() || request.getNames() > 0 || isNone(request.getNames());
    boolean space = !request.hasSpace() || request.getSpace() >= 0 || isNone(request.getSpace());
    if (!names || !space) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "quota of %s: %d names, %d bytes; at least 1 name and 0 bytes can be a limit, and -1 is none"
              .formatted(path, request.getNames(), request.getSpace()));
    }
  }

  private static boolean isNone(long limit) {
    return limit == Quota.NONE;
  }

  /** Refuses while deleted entries count against it: they could not be found afterwards. */
  private static void end(Context context, Quota quota) throws TakoException {
    if (quota.detached() > 0) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "what was deleted below %s is being removed; try again".formatted(quota.setOn()));
    }
    context.state().quotas.remove(context.tx(), quota.id());
  }

  public static Reply get(State state, Caller caller, GetQuota request) throws TakoException {
    Inode inode = state.tree.lookup(FilePath.parse(request.getPath()), caller).inode();
    Quota quota = state.quotas.get(inode.id);
    QuotaStatus.Builder reply = QuotaStatus.newBuilder();
    if (quota != null && quota.hasLimit()) {
      if (quota.counting()) {
        throw counting(quota);
      }
      reply.setNamesUsed(quota.names()).setSpaceUsed(quota.space());
      if (!isNone(quota.namesMax())) {
        reply.setNames(quota.namesMax());
      }
      if (!isNone(quota.spaceMax())) {
        reply.setSpace(quota.spaceMax());
      }
    }
    return Reply.newBuilder().setQuota(reply).build();
  }

  /** The message for callers that would change something below it meanwhile. */
  public static TakoException counting(Quota quota) {
    return new TakoException(
        Status.UNAVAILABLE,
        "what counts against the quota %s is being counted; try again"
            .formatted(quota.hasLimit() ? "of " + quota.setOn() : "of a directory to be renamed"));
  }
}
