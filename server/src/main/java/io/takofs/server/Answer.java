package io.takofs.server;

import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.zone.Ticket;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A reply that is sent when the server's lock is free, and when what it lets its caller write can
 * be written by the caller alone.
 */
record Answer(IncomingCall call, Reply reply, Ticket ticket, boolean takesKeys) {
  /**
   * Opens what {@code reply} lets the caller write: of a reply that was recorded earlier, what it
   * may write still.
   */
  static Answer to(IncomingCall call, Reply reply, StateMachine machine, WriteWindows windows) {
    Ticket ticket = new Ticket();
    List<Extent> extents = extents(reply);
    long clientId = call.clientId();
    if (extents.isEmpty() || !windows.concern(clientId)) {
      return new Answer(call, reply, ticket, false);
    }
    long fileId = fileId(call.request(), reply);
    windows.open(clientId, fileId, machine.writableBy(clientId, fileId, extents), ticket);
    return new Answer(call, reply, ticket, true);
  }

  /** Replies now or when the windows are open; without the server's lock. */
  void send(WriteWindows windows, TransportReport transports) {
    ticket.then(() -> call.reply(takesKeys ? withKeys(windows) : transports.complete(reply)));
    ticket.release();
  }

  private Reply withKeys(WriteWindows windows) {
    if (ticket.failure() != null) {
      String why = "no memory window for the extents of the file: " + ticket.failure();
      return Reply.newBuilder().setStatus(Status.UNAVAILABLE).setMessage(why).build();
    }
    return map(reply, extent -> withKeys(extent, windows));
  }

  private Extent withKeys(Extent extent, WriteWindows windows) {
    return windows.withKeys(call.clientId(), fileId(call.request(), reply), extent);
  }

  private static long fileId(Request request, Reply reply) {
    if (reply.hasOpenedFile()) {
      return reply.getOpenedFile().getFile().getId();
    }
    return request.hasRenewLeases()
        ? request.getRenewLeases().getFileId()
        : request.getGrantExtents().getFileId();
  }

  private static List<Extent> extents(Reply reply) {
    if (reply.hasGrants()) {
      return reply.getGrants().getExtentsList();
    }
    OpenedFile opened = reply.getOpenedFile();
    if (!opened.hasLastExtent()) {
      return opened.getGrantsList();
    }
    List<Extent> extents = new ArrayList<>(opened.getGrantsList());
    extents.add(opened.getLastExtent());
    return extents;
  }

  private static Reply map(Reply reply, UnaryOperator<Extent> change) {
    Reply.Builder changed = reply.toBuilder();
    if (reply.hasGrants()) {
      changed.setGrants(Grants.newBuilder().addAllExtents(map(extents(reply), change)));
    } else {
      OpenedFile opened = reply.getOpenedFile();
      OpenedFile.Builder file = changed.getOpenedFileBuilder();
      file.clearGrants().addAllGrants(map(opened.getGrantsList(), change));
      if (opened.hasLastExtent()) {
        file.setLastExtent(change.apply(opened.getLastExtent()));
      }
    }
    return changed.build();
  }

  private static List<Extent> map(List<Extent> extents, UnaryOperator<Extent> change) {
    return extents.stream().map(change).toList();
  }
}
