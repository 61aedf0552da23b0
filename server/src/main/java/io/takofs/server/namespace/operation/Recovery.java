package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.extent.Grant;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.LeaseTable;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.namespace.state.State;

/** Closes open files for a caller that is not their writer. */
public final class Recovery {
  /** Files closed by one entry, which bounds the pages it changes. */
  private static final int FILES_AT_ONCE = 16;

  /** Grants taken back with them, when the first file has not more. */
  private static final int GRANTS_AT_ONCE = 64;

  private Recovery() {}

  /**
   * Makes sure that nobody writes the file: nothing to do, or its lease lapsed and is recovered.
   *
   * @return the client whose lease was recovered, 0 for none
   * @throws TakoException with status LEASE_HELD when somebody still writes it
   */
  static long takeOver(Context context, DirectoryEntry file, FilePath path) throws TakoException {
    Lease lease = context.state().leases.get(file.inode().id);
    if (lease == null) {
      return 0;
    }
    if (lease.clientId() == context.clientId()) {
      throw new TakoException(
          Status.LEASE_HELD, path + " is open for writing by the same client; close it first");
    }
    if (!context.isLapsed(lease.clientId())) {
      throw new TakoException(
          Status.LEASE_HELD,
          "%s is open for writing by %s; wait until it is closed or recover its lease"
              .formatted(path, clientName(context.state(), lease.clientId())));
    }
    close(context, file);
    return lease.clientId();
  }

  /**
   * The client whose lapse lets {@code request} take over a file, or name another reason for its
   * refusal; 0 when it asks for no file that is open.
   */
  public static long writerInTheWay(State state, Caller caller, Request request) {
    String path =
        switch (request.getOperationCase()) {
          case CREATE -> request.getCreate().getPath();
          case APPEND -> request.getAppend().getPath();
          case TRUNCATE -> request.getTruncate().getPath();
          default -> "";
        };
    if (path.isEmpty()) {
      return 0;
    }
    try {
      DirectoryEntry found = state.tree.walk(FilePath.parse(path), caller).last();
      Lease lease = state.leases.get(found.inode().id);
      return lease == null ? 0 : lease.clientId();
    } catch (TakoException e) {
      return 0; // the request is refused for the same reason
    }
  }

  /**
   * Closes an open file at its committed length. Its writer knows nothing of it and may still write
   * what it was granted and after the committed bytes of the last extent: the one rests in
   * quarantine, the other is written by nobody else.
   */
  static void close(Context context, DirectoryEntry file) {
    State state = context.state();
    Inode inode = file.inode();
    long writer = state.leases.get(inode.id).clientId();
    FileExtent last = state.data.last(inode);
    long spaceBefore = QuotaTable.space(state, inode);
    if (last != null && last.canGrow()) {
      state.data.put(context.tx(), inode.id, last.seal(writer));
    }
    for (Grant grant : state.extents.granted(inode.id)) {
      state.extents.revoke(context.tx(), grant, writer, context.timeMs());
    }
    state.leases.remove(context.tx(), inode.id);
    inode.open = false;
    state.quotas.add(
        context.tx(),
        state.quotas.over(file.parentId()),
        0,
        QuotaTable.space(state, inode) - spaceBefore);
    state.tree.replace(context.tx(), file);
  }

  /**
   * Closes files that a client has open, as many as one entry may.
   *
   * @return whether those were all
   */
  public static boolean closeSome(Context context, long clientId) {
    LeaseTable leases = context.state().leases;
    int grants = 0;
    for (Lease lease : leases.of(clientId, FILES_AT_ONCE)) {
      grants += context.state().extents.granted(lease.fileId()).size();
      close(context, context.state().tree.get(lease.parentId(), lease.name()));
      if (grants >= GRANTS_AT_ONCE) {
        break;
      }
    }
    return leases.countOf(clientId) == 0;
  }

  /** The lease that a writer says it has; LEASE_LOST when it has it no more. */
  public static Lease requireLease(Context context, long fileId, long epoch) throws TakoException {
    return requireLease(context.state(), context.clientId(), fileId, epoch);
  }

  public static Lease requireLease(State state, long clientId, long fileId, long epoch)
      throws TakoException {
    Lease lease = state.leases.get(fileId);
    if (lease == null || lease.clientId() != clientId || lease.epoch() != epoch) {
      throw new TakoException(
          Status.LEASE_LOST,
          "file %016x is not open for writing by this client any more: closed, recovered or deleted"
              .formatted(fileId));
    }
    return lease;
  }

  private static String clientName(State state, long clientId) {
    SessionInfo session = state.sessions.get(clientId);
    return "client %016x (%s)"
        .formatted(
            clientId, session == null ? "gone" : session.user() + ", " + session.clientName());
  }
}
