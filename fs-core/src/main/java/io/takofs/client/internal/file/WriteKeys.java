package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantProof;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.OpenedWindows;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The keys by which a writer reaches its extents where the keys of arenas are for reading. The
 * session's server sends its own with the grants; every other server gives some for the leader's
 * proofs, over the connection that they are good for.
 *
 * <p>Thread rule: any thread.
 */
final class WriteKeys {
  /** Windows in one call at most, and as many that are left: both fit a slot of 4 KiB. */
  private static final int CALL_MAX = 32;

  /** Keys to write an extent and its checksum entries with; 0 for the arena's. */
  record Keys(int bytes, int checksums) {
    static final Keys OF_ARENA = new Keys(0, 0);
  }

  /** Keys that are good over one connection. */
  private record Opened(RemoteZone zone, Keys keys) {}

  private final Session session;
  private final long fileId;
  private final Map<Place, Keys> sessions = new ConcurrentHashMap<>(); // at the session's server
  private final Map<Place, OpenWindows.Window> proved = new ConcurrentHashMap<>(); // at others
  private final Map<Place, Opened> opened = new ConcurrentHashMap<>();

  WriteKeys(Session session, long fileId) {
    this.session = session;
    this.fileId = fileId;
  }

  /**
   * Keeps the keys and the proofs that came with {@code extents}.
   *
   * @param terms of the session at the server that sent them, which the session may have left since
   */
  void add(List<Extent> extents, SessionTerms terms) throws TakoException {
    for (Extent extent : extents) {
      if (extent.getRkey() != 0) {
        // The keys are for the session's server, which may have one of several replicas.
        Keys keys = new Keys(extent.getRkey(), extent.getChecksumsRkey());
        for (Place place : session.slabs().places(extent)) {
          if (session.servers().at(place.server()).isSessions(terms)) {
            sessions.put(place, keys);
          }
        }
      }
      Slab slab = extent.getProofsCount() == 0 ? null : session.slabs().find(extent.getSlab());
      if (slab != null) {
        extent.getProofsList().forEach(proof -> add(extent, slab, proof));
      }
    }
  }

  private void add(Extent extent, Slab slab, GrantProof proof) {
    for (Replica replica : slab.getReplicasList()) {
      if (replica.getServer() == proof.getServer()) {
        Place place = Place.at(replica, extent);
        proved.put(
            place,
            OpenWindows.Window.newBuilder()
                .setArena(place.arena())
                .setOffset(place.offset())
                .setCapacity(place.capacity())
                .setGrant(extent.getGrant())
                .setLease(replica.getLease())
                .setKey(proof.getKey())
                .setAuthenticator(proof.getAuthenticator())
                .build());
      }
    }
  }

  /** Keys at the session's server; null when none are known. */
  Keys atSessions(Place place) {
    return sessions.get(place);
  }

  /** A server is reached by a new connection: the keys of the last one are void. */
  void forgetSessions() {
    sessions.clear();
  }

  /** Whether the leader has proved the grant of the extent at {@code place}. */
  boolean isProved(Place place) {
    return proved.containsKey(place);
  }

  /** Keys that are good through {@code zone}; null when they have to be asked for. */
  Keys at(RemoteZone zone, Place place) {
    Opened known = opened.get(place);
    return known != null && known.zone == zone ? known.keys : null;
  }

  /**
   * Asks {@code server} for keys to {@code place}, and for those to other extents there, in one
   * call.
   *
   * @return null when the connection has ended, and with it {@code zone}
   * @throws TakoException when the server refuses, or does not answer in time
   */
  Keys open(ServerLink server, RemoteZone zone, Place place, long deadlineNs) throws TakoException {
    List<Place> places = wanted(zone, place);
    List<OpenWindows.Window> left = zone.takeLeft(CALL_MAX);
    OpenWindows.Builder request = OpenWindows.newBuilder().setFileId(fileId).addAllLeft(left);
    places.forEach(each -> request.addWindows(proofOf(each)));
    Reply reply;
    try {
      reply = server.call(Request.newBuilder().setOpenWindows(request).build(), deadlineNs);
    } catch (TakoException e) {
      left.forEach(zone::leave);
      if (e.status() != Status.DISCONNECTED) {
        throw e;
      }
      zone.close(); // both connections are made anew together
      return null;
    }
    if (reply.getStatus() == Status.DISCONNECTED || reply.getStatus() == Status.SESSION_EXPIRED) {
      zone.close();
      return null;
    }
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return keep(zone, places, reply.getOpenedWindows());
  }

  /** The place {@code first}, and others of the same server for which no key is good. */
  private List<Place> wanted(RemoteZone zone, Place first) {
    List<Place> places = new ArrayList<>();
    places.add(first);
    for (Place place : proved.keySet()) {
      if (places.size() == CALL_MAX) {
        break;
      }
      if (place.server() == first.server() && !place.equals(first) && at(zone, place) == null) {
        places.add(place);
      }
    }
    return places;
  }

  /** A server refuses a window that is not proved. */
  private OpenWindows.Window proofOf(Place place) {
    return proved.getOrDefault(
        place,
        OpenWindows.Window.newBuilder()
            .setArena(place.arena())
            .setOffset(place.offset())
            .setCapacity(place.capacity())
            .build());
  }

  private Keys keep(RemoteZone zone, List<Place> places, OpenedWindows answer)
      throws TakoException {
    for (int i = 0; i < Math.min(places.size(), answer.getWindowsCount()); i++) {
      OpenedWindows.Keys keys = answer.getWindows(i);
      if (keys.getRkey() != 0) {
        opened.put(
            places.get(i), new Opened(zone, new Keys(keys.getRkey(), keys.getChecksumsRkey())));
      }
    }
    Keys wanted = at(zone, places.get(0));
    if (wanted == null) {
      throw new TakoException(
          Status.UNAVAILABLE, "the server opens no window to write: " + answer.getRefusal());
    }
    return wanted;
  }

  /**
   * The writer does not write at {@code places} any more.
   *
   * @param completed whether all it sent there has come; else the windows stay, until a fence or
   *     the end of the connection closes them, because closing them would break the connection
   */
  void remove(List<Place> places, boolean completed) {
    for (Place place : places) {
      sessions.remove(place);
      OpenWindows.Window proof = proved.remove(place);
      Opened window = opened.remove(place);
      if (completed && proof != null && window != null) {
        window.zone.leave(proof.toBuilder().clearKey().clearAuthenticator().build());
      }
    }
  }

  /** The file is closed: everything that was sent has come. */
  void removeAll() {
    remove(List.copyOf(proved.keySet()), true);
    sessions.clear();
  }
}
