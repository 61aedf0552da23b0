package io.takofs.server;

import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.loggroup.Ticket;
import io.takofs.server.namespace.LocalExtents;
import io.takofs.server.namespace.ReplySlabs;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.zone.ReplyGate;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A reply that is sent when the server's lock is free, and when what it lets its caller write can
 * be written by the caller alone.
 *
 * @param ticket of the newest entry that the reply may tell of
 * @param placesForKeys where the extents that the caller may write through windows are in the
 *     arenas of this server
 */
record FencedReply(
    IncomingCall call,
    Reply reply,
    Ticket ticket,
    ReplyGate gate,
    Map<SlabRange, Extent> placesForKeys) {
  /**
   * Opens what {@code reply} lets the caller write: of a reply that was recorded earlier, what it
   * may write still.
   */
  static FencedReply to(
      IncomingCall call,
      Reply reply,
      Ticket ticket,
      StateMachine machine,
      LocalExtents local,
      WriteWindows windows) {
    ReplyGate gate = new ReplyGate();
    List<Extent> extents = extents(reply);
    long clientId = call.clientId();
    Reply shown = ReplySlabs.add(machine, reply);
    if (extents.isEmpty() || !windows.concern(clientId)) {
      return new FencedReply(call, shown, ticket, gate, Map.of());
    }
    long fileId = fileId(call.request(), reply);
    Map<SlabRange, Extent> places = new HashMap<>();
    for (Extent extent : machine.writableBy(clientId, fileId, extents)) {
      Extent here = local.of(extent);
      if (here != null) {
        places.put(SlabRange.of(extent), here);
      }
    }
    windows.open(clientId, fileId, List.copyOf(places.values()), gate);
    return new FencedReply(call, shown, ticket, gate, places);
  }

  /** Replies now or when the windows are open; without the server's lock. */
  void send(WriteWindows windows, ReplyCompletion completion) {
    gate.then(
        () ->
            call.reply(
                completion.complete(
                    call.request(), placesForKeys.isEmpty() ? reply : withKeys(windows))));
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
    Extent here = placesForKeys.get(SlabRange.of(extent));
    if (here == null) {
      return extent;
    }
    Extent keys = windows.withKeys(call.clientId(), fileId(call.request(), reply), here);
    return extent.toBuilder()
        .setRkey(keys.getRkey())
        .setChecksumsRkey(keys.getChecksumsRkey())
        .build();
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
