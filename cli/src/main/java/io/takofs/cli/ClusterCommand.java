package io.takofs.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerEntry.State;
import io.takofs.proto.Status;
import io.takofs.server.catalog.CatalogClient;
import io.takofs.server.catalog.CatalogFile;
import io.takofs.server.catalog.CatalogState;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.PeerStatus;
import io.takofs.server.catalog.raft.PeerConnections;
import io.takofs.server.cluster.ClusterSetup;
import io.takofs.server.report.Counts;
import io.takofs.server.report.Sizes;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * {@code tako cluster}: shows and changes the map of a cluster, in the catalog that the servers'
 * configuration names.
 */
@Command(name = "cluster", description = "Shows and changes which servers a cluster has.")
final class ClusterCommand implements Runnable {
  private static final Gson JSON =
      new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

  @Spec private CommandSpec spec;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      description =
          "Configuration of the servers (default: TAKO_CONF, else conf/tako-site.xml; where that"
              + " names no cluster, that of `tako dev`).")
  private Path file;

  /** The work of a subcommand with the catalog. */
  private interface Work {
    void with(CatalogClient catalog, ConfigStore store) throws IOException;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "init, status, add, remove, rotate-key or restore-catalog?");
  }

  private int inCatalog(Work work) throws IOException {
    ClusterSetup setup = new ClusterSetup(configuration());
    try (TcpTransport tcp = new TcpTransport(TcpSettings.DEFAULT);
        PeerConnections connections = setup.connections(tcp);
        ConfigStore store = setup.catalog(connections)) {
      work.with(new CatalogClient(store), store);
    }
    out().flush();
    return 0;
  }

  private TakoConfig configuration() throws IOException {
    TakoConfig config = Installation.configuration(file);
    if (file != null || !config.get(ConfigKeys.CLUSTER_SERVERS).isEmpty()) {
      return config;
    }
    Optional<Path> dev = new DevDirectory().clusterSite();
    return dev.isPresent() ? Installation.configuration(dev.get()) : config;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      description =
          "Makes the catalog of a new cluster. The start of the first server does as well.")
  int init() throws IOException {
    String name = configuration().get(ConfigKeys.CLUSTER_NAME);
    return inCatalog(
        (catalog, store) -> {
          long id = 0;
          while (id == 0) {
            id = new SecureRandom().nextLong();
          }
          catalog.init(ClusterMaps.init(id, name));
          out().println("cluster " + name + " has a catalog: " + store.description());
        });
  }

  @Command(description = "Prints the servers of the cluster.")
  int status(@Option(names = "--json", description = "Prints JSON, for programs.") boolean json)
      throws IOException {
    return inCatalog(
        (catalog, store) -> {
          ClusterMap map = catalog.requireMap();
          if (json) {
            out().println(JSON.toJson(json(map, catalog, store)));
          } else {
            print(map, catalog, store);
          }
        });
  }

  private void print(ClusterMap map, CatalogClient catalog, ConfigStore store) throws IOException {
    out().printf("cluster  %s, map %d%n", map.getName(), map.getEpoch());
    out().printf("catalog  %s%n", store.description());
    for (PeerStatus peer : store.peers()) {
      out().printf("peer     %s %s %s%n", peer.address(), peer.role(), peer.id());
    }
    out().printf("key      %d%n", catalog.keys().current());
    for (ServerEntry server : map.getServersList()) {
      out()
          .printf(
              "server   %d %s %s%s, %s of data, %s, version %s%n",
              server.getId(),
              ClusterMaps.address(server),
              server.getState(),
              catalog.lives(server.getId()) ? "" : " (silent)",
              Sizes.human(server.getDataBytes()),
              server.getRack(),
              server.getVersion());
    }
    map.getGroupsList()
        .forEach(
            group -> out().printf("group    %d on %s%n", group.getId(), group.getMembersList()));
  }

  private static JsonObject json(ClusterMap map, CatalogClient catalog, ConfigStore store)
      throws IOException {
    JsonObject cluster = new JsonObject();
    cluster.addProperty("name", map.getName());
    cluster.addProperty("id", String.format("%016x", map.getClusterId()));
    cluster.addProperty("epoch", map.getEpoch());
    cluster.addProperty("catalog", store.description());
    JsonArray peers = new JsonArray();
    for (PeerStatus each : store.peers()) {
      JsonObject peer = new JsonObject();
      peer.addProperty("address", each.address());
      peer.addProperty("role", each.role().name());
      peer.addProperty("id", each.id());
      peers.add(peer);
    }
    cluster.add("peers", peers);
    cluster.addProperty("key", catalog.keys().current());
    JsonArray servers = new JsonArray();
    for (ServerEntry each : map.getServersList()) {
      JsonObject server = new JsonObject();
      server.addProperty("id", each.getId());
      server.addProperty("pool", String.format("%016x", each.getPoolId()));
      server.addProperty("host", each.getHost());
      server.addProperty("port", each.getPort());
      server.addProperty("rack", each.getRack());
      server.addProperty("state", each.getState().name());
      server.addProperty("alive", catalog.lives(each.getId()));
      server.addProperty("epoch", each.getEpoch());
      server.addProperty("http", each.getHttp());
      server.addProperty("version", each.getVersion());
      server.addProperty("dataBytes", each.getDataBytes());
      servers.add(server);
    }
    cluster.add("servers", servers);
    JsonArray groups = new JsonArray();
    map.getGroupsList()
        .forEach(
            each -> {
              JsonObject group = new JsonObject();
              group.addProperty("id", each.getId());
              JsonArray members = new JsonArray();
              each.getMembersList().forEach(members::add);
              group.add("members", members);
              groups.add(group);
            });
    cluster.add("groups", groups);
    return cluster;
  }

  @Command(description = "Takes a server back that was told to leave.")
  int add(@Parameters(paramLabel = "SERVER", description = "Its number, or HOST:PORT.") String name)
      throws IOException {
    return inCatalog(
        (catalog, store) -> {
          int server = number(catalog.requireMap().getServersList(), name);
          catalog.change(map -> takenBack(map, server));
          out().println("server " + server + " is UP");
        });
  }

  /**
   * Returns the number of the one of {@code servers} that is named by its number, or by its
   * address. Whether there is a server of that number is for whoever uses it to say.
   *
   * @throws TakoException NOT_FOUND if none is at the address, INVALID_ARGUMENT if several are
   */
  static int number(List<ServerEntry> servers, String name) throws TakoException {
    if (name.matches("[0-9]{1,9}")) {
      return Integer.parseInt(name);
    }
    List<Integer> found =
        servers.stream()
            .filter(server -> ClusterMaps.address(server).equals(name))
            .map(ServerEntry::getId)
            .toList();
    if (found.isEmpty()) {
      throw new TakoException(
          Status.NOT_FOUND,
          "no server of the cluster is at %s; tako cluster status names them".formatted(name));
    }
    if (found.size() > 1) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "servers %s are at %s; name one by its number".formatted(found, name));
    }
    return found.get(0);
  }

  private static ClusterMap takenBack(ClusterMap map, int id) throws TakoException {
    ServerEntry server = ClusterMaps.server(map, id);
    if (server.getState() == State.LOST) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d is LOST: it is UP again when it starts at %s with its pool"
              .formatted(id, ClusterMaps.address(server)));
    }
    return ClusterMaps.mark(map, id, State.UP);
  }

  @Command(
      description =
          "Tells a server to leave: what it has moves away. One that has left or is lost is"
              + " forgotten.")
  int remove(
      @Parameters(paramLabel = "SERVER", description = "Its number, or HOST:PORT.") String name,
      @Option(names = "--lost", description = "The server will not come back: its pool is gone.")
          boolean lost)
      throws IOException {
    return inCatalog(
        (catalog, store) -> {
          int server = number(catalog.requireMap().getServersList(), name);
          if (lost && catalog.lives(server)) {
            throw new TakoException(
                Status.INVALID_ARGUMENT,
                ("server %d is not lost, it is there: stop it first, or leave out --lost and its"
                        + " data moves away")
                    .formatted(server));
          }
          ClusterMap next = catalog.change(map -> without(map, server, lost));
          Optional<ServerEntry> entry =
              next.getServersList().stream().filter(each -> each.getId() == server).findAny();
          out()
              .println(
                  entry.map(ClusterCommand::leaving).orElse("server " + server + " is removed"));
          if (entry.isPresent() && entry.get().getState() == State.DECOMMISSIONING) {
            warnOfFewServers(next, entry.get());
            warnOfFewMembers(next, entry.get());
          }
        });
  }

  /** Copies have nowhere to go where each of the other servers has one. */
  private void warnOfFewServers(ClusterMap map, ServerEntry leaving) throws IOException {
    long left = map.getServersList().stream().filter(each -> each.getState() == State.UP).count();
    int copies = configuration().get(ConfigKeys.REPLICATION_MAX);
    if (left < copies) {
      out()
          .printf(
              "warning: %s UP, and files may have %d copies (fs.tako.replication.max): those with"
                  + " more than %d keep server %d until another server joins, or they are to have"
                  + " fewer (setrep)%n",
              Counts.text(left, "server is", "servers are"), copies, left, leaving.getId());
    }
  }

  /** The namespace survives less where fewer servers keep it. */
  private void warnOfFewMembers(ClusterMap map, ServerEntry leaving) throws IOException {
    int now = map.getGroupsList().stream().mapToInt(GroupEntry::getMembersCount).max().orElse(0);
    int able =
        (int)
            map.getServersList().stream()
                .filter(each -> ClusterMaps.canBeMember(each, leaving))
                .count();
    int later = ClusterMaps.memberCount(configuration().get(ConfigKeys.GROUP_MEMBERS), able);
    if (ClusterMaps.isMember(map, leaving.getId()) && later < now) {
      out()
          .printf(
              "warning: without server %d, %d of the %d servers that keep the namespace will soon"
                  + " be left%s; tako cluster add %d takes it back%n",
              leaving.getId(),
              later,
              now,
              later == 1 ? ", and it is lost then with that one's pool" : "",
              leaving.getId());
    }
  }

  private static String leaving(ServerEntry server) {
    String state = "server " + server.getId() + " is " + server.getState();
    return server.getState() == State.DECOMMISSIONING
        ? state
            + ": tako repair says how far it is, and for what it waits; if it will not come back: tako cluster remove --lost "
            + server.getId()
        : state;
  }

  private static ClusterMap without(ClusterMap map, int server, boolean lost) throws TakoException {
    return switch (ClusterMaps.server(map, server).getState()) {
      case LOST, DECOMMISSIONED -> ClusterMaps.remove(map, server);
      default -> ClusterMaps.mark(map, server, lost ? State.LOST : State.DECOMMISSIONING);
    };
  }

  @Command(
      name = "rotate-key",
      description =
          "Makes a new key that servers sign with; what the former one signed is good until the"
              + " next rotation.")
  int rotateKey() throws IOException {
    return inCatalog(
        (catalog, store) ->
            out().println("key " + catalog.rotateKeys(new SecureRandom()).current()));
  }

  private static CatalogState values(CatalogFile copy) throws IOException {
    try {
      return copy.read();
    } catch (TakoException e) {
      throw new TakoException(
          e.status(),
          e.getMessage()
              + ": name the copy of another server, catalog-copy-PORT in the directory of its"
              + " fs.tako.server.state.dir",
          e);
    }
  }

  @Command(
      name = "restore-catalog",
      description =
          "Makes a catalog that is lost again from a copy: each server keeps one, catalog-copy-PORT"
              + " in the directory of fs.tako.server.state.dir; the newest is the best.")
  int restoreCatalog(
      @Parameters(paramLabel = "COPY", description = "The file of the copy.") Path copy)
      throws IOException {
    CatalogFile file = new CatalogFile(copy);
    if (Files.isDirectory(copy)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, copy + " is a directory: name a server's copy in it");
    }
    if (!file.exists()) {
      throw new TakoException(Status.NOT_FOUND, copy + " is not there: name a server's copy");
    }
    return inCatalog(
        (catalog, store) -> {
          ClusterMap map = catalog.restore(values(file));
          out()
              .printf(
                  "cluster %s has its catalog again, with %d servers: %s%n",
                  map.getName(), map.getServersCount(), store.description());
        });
  }
}
