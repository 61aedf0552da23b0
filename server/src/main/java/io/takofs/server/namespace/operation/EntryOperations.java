package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;

/** Finds the operation of a log entry. */
public final class EntryOperations {
  private EntryOperations() {}

  /**
   * Executes the command of the context's entry.
   *
   * @throws TakoException when it is refused, and what it changed is to be undone
   */
  public static Reply execute(Context context) throws TakoException {
    LogEntry entry = context.entry();
    return switch (entry.getCommandCase()) {
      case REQUEST -> execute(context, entry.getRequest());
      case EXPIRE_SESSION -> SessionOperation.end(context, entry.getExpireSession().getClientId());
      case EXPIRE_LEASES -> {
        Recovery.closeSome(context, entry.getExpireLeases().getClientId());
        yield Replies.done();
      }
      case FREE_EXTENTS -> FreeOperation.apply(context, entry.getFreeExtents());
      case COUNT_QUOTAS -> QuotaCount.apply(context);
      case FORMAT_GROUP -> FormatOperation.apply(context, entry.getFormatGroup());
      case ADD_SLAB -> SlabOperation.add(context, entry.getAddSlab());
      case REMOVE_SLAB -> SlabOperation.remove(context, entry.getRemoveSlab());
      case CLOSE_SLAB -> SlabOperation.close(context, entry.getCloseSlab());
      case OPEN_SLAB -> SlabOperation.open(context, entry.getOpenSlab());
      case SWITCH_REPLICA -> SlabOperation.switchReplica(context, entry.getSwitchReplica());
      case REPLICA_RETURNED -> SlabOperation.returned(context, entry.getReplicaReturned());
      case GRANT_MOVE -> MoveOperation.grant(context, entry.getGrantMove());
      case MOVE_EXTENTS -> MoveOperation.move(context, entry.getMoveExtents());
      case END_MOVE -> MoveOperation.end(context, entry.getEndMove());
      case RECLAIM, COMMAND_NOT_SET -> throw malformed("a log entry has no command");
    };
  }

  private static Reply execute(Context context, Request request) throws TakoException {
    return switch (request.getOperationCase()) {
      case OPEN_SESSION -> SessionOperation.open(context, request.getOpenSession());
      case CLOSE_SESSION -> {
        SessionOperation.require(context.state(), context.clientId());
        yield SessionOperation.end(context, context.clientId());
      }
      case MKDIRS -> MkdirsOperation.apply(context, request.getMkdirs());
      case CREATE -> CreateOperation.apply(context, request.getCreate());
      case APPEND -> AppendOperation.apply(context, request.getAppend());
      case RENAME -> RenameOperation.apply(context, request.getRename());
      case DELETE -> DeleteOperation.apply(context, request.getDelete());
      case TRUNCATE -> TruncateOperation.apply(context, request.getTruncate());
      case SET_ATTRIBUTES -> SetAttributesOperation.apply(context, request.getSetAttributes());
      case RECOVER_LEASE -> RecoverLeaseOperation.apply(context, request.getRecoverLease());
      case GRANT_EXTENTS -> GrantOperation.grant(context, request.getGrantExtents());
      case COMMIT_EXTENTS -> CommitOperation.apply(context, request.getCommitExtents());
      case CONCAT -> ConcatOperation.apply(context, request.getConcat());
      case DELETE_FILES -> throw new IllegalStateException("not one transaction");
      case SET_ACL -> SetAclOperation.apply(context, request.getSetAcl());
      case SET_XATTR -> XAttrOperation.set(context, request.getSetXattr());
      case SET_QUOTA -> QuotaOperation.set(context, request.getSetQuota());
      case REMOVE_XATTR -> XAttrOperation.remove(context, request.getRemoveXattr());
      default ->
          throw malformed(
              "%s changes nothing and is not logged".formatted(request.getOperationCase()));
    };
  }

  private static TakoException malformed(String what) {
    return new TakoException(Status.MALFORMED, what);
  }
}
