package io.takofs.server;

import io.takofs.proto.Extent;
import io.takofs.proto.Grants;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.extent.Location;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.loggroup.Ticket;
import io.takofs.server.namespace.LocalExtents;
import io.takofs.server.namespace.ReplySlabs;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.peer.Cluster;
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
 * @param slabsToProve the slabs of extents that the caller may write, if it wants proofs of that
 */
record FencedReply(
    IncomingCall call,
    Reply reply,
    Ticket ticket,
    ReplyGate gate,
    Map<SlabRange, Extent> placesForKeys,
    Map<SlabRange, Slab> slabsToProve) {
  /** The state that says who may write what, and the windows of this server. */
  record Rights(StateMachine machine, LocalExtents local, WriteWindows windows) {}

  /**
   * Opens what {@code reply} lets the caller write: of a reply that was recorded earlier, what it
   * may write still.
   *
   * @param wantsProofs whether the caller writes through windows at other servers
   */
  static FencedReply to(
      IncomingCall call, Reply reply, Ticket ticket, Rights rights, boolean wantsProofs) {
    ReplyGate gate = new ReplyGate();
    List<Extent> extents = extents(reply);
    long clientId = call.clientId();
    WriteWindows windows = rights.windows;
    Reply shown = ReplySlabs.add(rights.machine, reply);
    if (extents.isEmpty() || !(wantsProofs || windows.concern(clientId))) {
      return new FencedReply(call, shown, ticket, gate, Map.of(), Map.of());
    }
    long fileId = fileId(call.request(), reply);
    Map<SlabRange, Extent> places = new HashMap<>();
    Map<SlabRange, Slab> slabs = new HashMap<>();
    for (Extent extent : rights.machine.writableBy(clientId, fileId, extents)) {
      SlabRange range = SlabRange.of(extent);
      Extent here = rights.local.of(extent);
      if (here != null) {
        places.put(range, here);
      }
      Slab slab = wantsProofs ? rights.machine.slabs().get(range.slab()) : null;
      if (slab != null) {
        slabs.put(range, slab);
      }
    }
    windows.open(clientId, fileId, List.copyOf(places.values()), gate);
    return new FencedReply(call, shown, ticket, gate, places, slabs);
  }

  /** Replies now or when the windows are open; without the server's lock. */
  void send(WriteWindows windows, ReplyCompletion completion) {
    gate.then(
        () ->
            call.reply(
                completion.complete(call.request(), withRights(windows, completion.cluster()))));
    gate.release();
  }

  private Reply withRights(WriteWindows windows, Cluster cluster) {
    if (placesForKeys.isEmpty() && slabsToProve.isEmpty()) {
      return reply;
    }
    Reply complete = placesForKeys.isEmpty() ? reply : withKeys(windows);
    return slabsToProve.isEmpty() || complete.getStatus() != Status.OK
        ? complete
        : map(complete, extent -> withProofs(extent, cluster));
  }

  private Extent withProofs(Extent extent, Cluster cluster) {
    SlabRange range = SlabRange.of(extent);
    Slab slab = slabsToProve.get(range);
    if (slab == null) {
      return extent;
    }
    Extent.Builder proved = extent.toBuilder();
    for (Replica replica : slab.getReplicasList()) {
      if (replica.getServer() != cluster.serverId()) {
        Location place = range.in(replica);
        OpenWindows.Window window =
            OpenWindows.Window.newBuilder()
                .setArena(place.arena())
                .setOffset(place.offset())
                .setCapacity(place.capacity())
                .setGrant(extent.getGrant())
                .setLease(replica.getLease())
                .build();
        proved.addProofs(cluster.proof(window, call.clientId(), replica.getServer()));
      }
    }
    return proved.build();
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
