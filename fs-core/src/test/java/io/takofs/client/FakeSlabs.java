package io.takofs.client;

import io.takofs.layout.Layout;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.SessionTicket;
import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The slabs of a {@link FakeServer}, whose lock guards it. */
final class FakeSlabs {
  /** Bytes of each data server's arena. */
  static final int ARENA_SIZE = 4 * Layout.SLAB_SIZE;

  private final int replication;
  private final List<FakeDataServer> servers;
  private final Map<Long, Slab> slabs = new HashMap<>();
  private final Map<Integer, Integer> nextIndex = new HashMap<>();
  private final Set<Integer> suspects = new HashSet<>();
  private final List<ReportReplicas.Report> reports = new ArrayList<>();
  private final List<Extent> granted = new ArrayList<>();
  private final List<Extent> unused = new ArrayList<>();
  private final List<Extent> left = new ArrayList<>();
  private Slab open;
  private int nextUnit;
  private long nextId = 1000;
  private final Set<Integer> removed = new HashSet<>();
  private final Map<Integer, String> racks = new HashMap<>();
  private int nearServer;
  private int key = 1;

  FakeSlabs(int replication, List<FakeDataServer> servers) {
    this.replication = replication;
    this.servers = servers;
  }

  List<ReportReplicas.Report> reports() {
    return List.copyOf(reports);
  }

  ClusterMap map() {
    ClusterMap.Builder map = ClusterMap.newBuilder().setEpoch(1 + removed.size());
    map.addServers(ServerEntry.newBuilder().setId(1).setHost("fake").setPort(1));
    for (FakeDataServer server : servers) {
      if (!removed.contains(server.id)) {
        map.addServers(
            ServerEntry.newBuilder()
                .setId(server.id)
                .setHost("data" + server.id)
                .setPort(7420)
                .setRack(racks.getOrDefault(server.id, "")));
      }
    }
    return map.addGroups(GroupEntry.newBuilder().setId(1).addMembers(1)).build();
  }

  /** The map does not have this server any more. */
  void remove(int server) {
    removed.add(server);
  }

  void place(int server, String rack) {
    racks.put(server, rack);
  }

  /** Clients whose sessions open from now on are on the host of {@code server}. */
  void putClientsNear(int server) {
    nearServer = server;
  }

  /** Sessions get other tickets from now on, and servers take those only. */
  void rotateKey() {
    key++;
    servers.forEach(server -> server.take(key));
  }

  /** Adds to the terms of a session what they say of slabs. */
  void addTo(SessionTerms.Builder terms) {
    terms.setNearServer(nearServer).setTicket(SessionTicket.newBuilder().setKey(key));
  }

  /** An extent of a slab on servers that nobody has reported; null when there are too few. */
  Extent grant(int units) {
    if (open == null
        || open.getClosed()
        || open.getReplicasList().stream().anyMatch(r -> suspects.contains(r.getServer()))
        || nextUnit + units > open.getEndUnit()) {
      open = add();
    }
    if (open == null) {
      return null;
    }
    Extent extent =
        Extent.newBuilder()
            .setSlab(open.getId())
            .setOffset(nextUnit * Layout.UNIT_SIZE)
            .setCapacity(units * Layout.UNIT_SIZE)
            .setGeneration(open.getId() * 1000 + nextUnit)
            .build();
    nextUnit += units;
    granted.add(extent);
    return extent;
  }

  /** A grant that was answered: its writer does not want others any more. */
  void giveUp(GrantExtents request) {
    unused.addAll(request.getUnusedList());
    left.addAll(request.getLeftList());
  }

  /** Extents given up, to which nothing was sent. */
  List<Extent> unused() {
    return List.copyOf(unused);
  }

  /** Extents given up where something may still land. */
  List<Extent> left() {
    return List.copyOf(left);
  }

  /** Everything that was ever granted with a replica on {@code server}. */
  List<Extent> grantedOn(int server) {
    return granted.stream()
        .filter(
            extent ->
                slabs.get(extent.getSlab()).getReplicasList().stream()
                    .anyMatch(replica -> replica.getServer() == server))
        .toList();
  }

  /** The grants that have not ended with their slabs. */
  List<Extent> live() {
    return granted.stream().filter(extent -> !isClosed(extent.getSlab())).toList();
  }

  private Slab add() {
    Slab.Builder slab =
        Slab.newBuilder()
            .setId(nextId++)
            .setVersion(1)
            .setEndUnit(Layout.SLAB_SIZE / Layout.UNIT_SIZE);
    int first = 0;
    for (FakeDataServer server : servers) {
      if (slab.getReplicasCount() < replication && !suspects.contains(server.id)) {
        int index = nextIndex.merge(server.id, 1, Integer::sum) - 1;
        slab.addReplicas(Replica.newBuilder().setServer(server.id).setIndex(index));
        // The checksums of the arena are before its first slab's units.
        first = Layout.ARENA_CHECKSUM_SIZE / Layout.UNIT_SIZE;
      }
    }
    if (slab.getReplicasCount() < replication) {
      return null;
    }
    nextUnit = first;
    Slab added = slab.setFirstUnit(first).build();
    slabs.put(added.getId(), added);
    return added;
  }

  void report(ReportReplicas report) {
    for (ReportReplicas.Report each : report.getReportsList()) {
      reports.add(each);
      if (!each.getWrongBytes()) {
        suspects.add(each.getServer());
      }
    }
  }

  void close(long id) {
    Slab closed = slabs.get(id).toBuilder().setClosed(true).build();
    slabs.put(id, closed);
    open = open != null && open.getId() == id ? closed : open;
  }

  /** Closes all slabs. */
  void closeAll() {
    List.copyOf(slabs.keySet()).forEach(this::close);
  }

  boolean isClosed(long id) {
    return slabs.get(id).getClosed();
  }

  Slab slab(long id) {
    return slabs.get(id);
  }

  /** {@code reply} with the slabs of the extents in it. */
  Reply show(Reply reply) {
    List<Extent> extents = new ArrayList<>(reply.getGrants().getExtentsList());
    extents.addAll(reply.getExtentMap().getExtentsList());
    extents.addAll(reply.getOpenedFile().getGrantsList());
    if (reply.getOpenedFile().hasLastExtent()) {
      extents.add(reply.getOpenedFile().getLastExtent());
    }
    Set<Slab> shown = new LinkedHashSet<>();
    for (Extent extent : extents) {
      if (extent.getSlab() != 0) {
        shown.add(slabs.get(extent.getSlab()));
      }
    }
    return reply.toBuilder().addAllSlabs(shown).setMapEpoch(map().getEpoch()).build();
  }
}
