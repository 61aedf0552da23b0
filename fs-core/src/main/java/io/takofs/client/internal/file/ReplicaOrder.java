package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.Place;
import io.takofs.proto.ServerEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Sorts the replicas of an extent for a reader: those that failed lately last, the others by
 * nearness; equally near ones in an order that differs from client to client and from extent to
 * extent, so that all servers are read from.
 *
 * <p>Thread rule: stateless, any thread.
 */
final class ReplicaOrder {
  private record Rated(Place place, int distance, long draw) {}

  private ReplicaOrder() {}

  /** The place to read first. */
  static Place first(FileAccess access, ExtentView extent) throws TakoException {
    List<Place> places = extent.places();
    return places.size() == 1 ? places.get(0) : of(access, extent).get(0);
  }

  /** All places. */
  static List<Place> of(FileAccess access, ExtentView extent) throws TakoException {
    Session session = access.session();
    ServerEntry near = near(session);
    long seed = session.terms().getClientId() * 31 + extent.start();
    List<Rated> rated = new ArrayList<>();
    for (Place place : extent.places()) {
      ServerLink server = session.servers().at(place.server());
      rated.add(new Rated(place, distance(server, near), draw(seed, place.server())));
    }
    rated.sort(Comparator.comparingInt(Rated::distance).thenComparingLong(Rated::draw));
    return rated.stream().map(Rated::place).toList();
  }

  private static ServerEntry near(Session session) throws TakoException {
    int id = session.terms().getNearServer();
    return id == 0 ? null : session.servers().at(id).entry();
  }

  /** 0 for the client's host, 1 for its rack, 2 for others; 3 for one that failed lately. */
  private static int distance(ServerLink server, ServerEntry near) throws TakoException {
    if (server.isSuspect()) {
      return 3;
    }
    if (server.openZone() instanceof MappedZone) {
      return 0;
    }
    ServerEntry entry = near == null ? null : server.entry();
    if (entry == null) {
      return near == null ? 2 : 3;
    }
    if (entry.getHost().equals(near.getHost())) {
      return 0;
    }
    return entry.getRack().equals(near.getRack()) ? 1 : 2;
  }

  private static long draw(long seed, int server) {
    long mixed = (seed + server) * 0x9E3779B97F4A7C15L;
    return ((mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L) >>> 1;
  }
}
