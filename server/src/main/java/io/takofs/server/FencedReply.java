package io.takofs.server;

import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.zone.ReplyGate;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A reply that is sent when the server's lock is free, and when what it lets its caller write can
 * be written by the caller alone.
 */
record FencedReply(IncomingCall call, Reply reply, ReplyGate gate, boolean takesKeys) {
  /**
   * Opens what {@code reply} lets the caller write: of a reply that was recorded earlier, what it
   * may write still.
   */
  static FencedReply to(
      IncomingCall call, Reply reply, StateMachine machine, WriteWindows windows) {
    ReplyGate gate = new ReplyGate();
    List<Extent> extents = extents(reply);
    long clientId = call.clientId();
    if (extents.isEmpty() || !windows.concern(clientId)) {
      return new FencedReply(call, reply, gate, false);
    }
    long fileId = fileId(call.request(), reply);
    windows.open(clientId, fileId, machine.writableBy(clientId, fileId, extents), gate);
    return new FencedReply(call, reply, gate, true);
  }

  /** Replies now or when the windows are open; without the server's lock. */
  void send(WriteWindows windows, TransportReport transports) {
    gate.then(() -> call.reply(takesKeys ? withKeys(windows) : transports.complete(reply)));
    gate.release();
  }

  /**
   * A change that was made is answered in any case: a client that reads UNAVAILABLE sends it again,
   * and executes it a second time when its session has ended meanwhile. An extent without keys lets
   * the client renew its lease to get them, which changes nothing and may be refused.
   */
  private Reply withKeys(WriteWindows windows) {
    if (gate.failure() != null && call.request().hasRenewLeases()) {
      String why = "no memory window for the extents of the file: " + gate.failure();
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
