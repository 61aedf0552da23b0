package io.takofs.server;

import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.rpc.IncomingCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A reply that is sent when the server's lock is free, and when what it lets its caller write can
 * be written by the caller alone.
 */
record Answer(IncomingCall call, Reply reply, Ticket ticket) {
  /** Opens what {@code reply} lets the caller write. */
  static Answer to(IncomingCall call, Reply reply, WriteWindows windows) {
    Ticket ticket = new Ticket();
    List<Extent> extents = extents(reply);
    if (!extents.isEmpty()) {
      windows.open(call.clientId(), fileId(call.request(), reply), extents, ticket);
    }
    return new Answer(call, reply, ticket);
  }

  /** Replies now or when the windows are open; without the server's lock. */
  void send(WriteWindows windows) {
    ticket.then(
        () ->
            call.reply(
                extents(reply).isEmpty()
                    ? reply
                    : map(reply, extent -> windows.withKeys(call.clientId(), extent))));
    ticket.release();
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
