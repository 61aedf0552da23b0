package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.base.FreePorts;
import io.takofs.client.ServerUri;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.config.TakoConfig;
import io.takofs.config.Units;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code tako dev}: one or several data servers on free ports of this machine, in the background.
 */
@Command(
    name = "dev",
    description =
        "Starts local data servers, one unless more are asked for, and says how to use them.",
    subcommands = DevCommand.Stop.class)
final class DevCommand implements Callable<Integer> {
  private static final String POOL_SIZE = "1g";
  private static final int SERVERS_MAX = 16;
  private static final long READY_NS = TimeUnit.SECONDS.toNanos(120);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);

  @Spec private CommandSpec spec;

  @Mixin private DevDirectory dev;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description =
          "Servers of a new cluster, each with a pool of its own; file data is then kept by as many"
              + " of them as its replication says (default: 1). One that exists keeps its servers.")
  private Integer servers;

  @Option(
      names = "--pool-size",
      paramLabel = "SIZE",
      description =
          "Size of a new pool: about an eighth is for metadata and log, the rest for file data"
              + " (default: "
              + POOL_SIZE
              + ", or that of the first start). A pool that exists keeps its size.")
  private String poolSize;

  @Option(
      names = "--pool",
      paramLabel = "DIR",
      description =
          "Directory of the pool (default: on /dev/shm); of further servers, DIR-2 and so on.")
  private Path pool;

  @Option(
      names = "--format",
      description =
          "Makes an empty pool where the former one is lost; a pool that exists is kept, files and"
              + " all.")
  private boolean format;

  @Override
  public Integer call() throws Exception {
    int running = dev.processes().size();
    requireOptions();
    if (running > 0) {
      int all = dev.servers().size();
      spec.commandLine()
          .getOut()
          .println(
              running == all
                  ? "already running:"
                  : running + " of " + all + " servers ran, the others are started:");
      if (running == all) {
        return describe();
      }
    }
    dev.make();
    requireMajority();
    Map<String, String> own = new LinkedHashMap<>();
    own.put(ConfigKeys.POOL_SIZE.name(), firstSize());
    List<String> addresses = addresses();
    own.putAll(clusterKeys(addresses));
    start(addresses, own);
    return describe();
  }

  private int describe() throws IOException {
    new DevDescription(dev, poolSize).print(spec.commandLine().getOut());
    return 0;
  }

  /** A cluster is named: its clients do without any one of its servers. */
  private String coreSite(List<String> addresses) throws IOException {
    TakoConfig config = new TakoConfig();
    if (addresses.isEmpty()) {
      return CoreSite.xml(dev.uri(), config);
    }
    String key = ConfigKeys.CLUSTER_NAME.name();
    String name = site().added().getOrDefault(key, ConfigKeys.CLUSTER_NAME.defaultText());
    config.set(TakoConfig.clusterKey(name), String.join(",", addresses));
    return CoreSite.xml(URI.create(ServerUri.SCHEME + "://" + name + "/"), config);
  }

  private void requireOptions() throws IOException {
    try {
      Units.parseSize(poolSize == null ? POOL_SIZE : poolSize);
    } catch (IllegalArgumentException e) {
      throw misused("--pool-size " + poolSize + ": " + e.getMessage());
    }
    requirePool();
    requireServers();
  }

  private void requireServers() throws IOException {
    if (servers == null) {
      return;
    }
    if (servers < 1 || servers > SERVERS_MAX) {
      throw misused("--servers " + servers + ": from 1 to " + SERVERS_MAX);
    }
    int there = dev.servers().size();
    if (dev.first().pool().isPresent() && there != servers) {
      throw misused(
          "--servers "
              + servers
              + ": "
              + dev.path()
              + " has a cluster of "
              + there
              + ", with their pools; `tako dev stop --dir "
              + dev.path()
              + "` deletes them, or name another --dir");
    }
  }

  /** A pool stays where it is. */
  private void requirePool() throws IOException {
    if (pool == null) {
      return;
    }
    Optional<Path> there = dev.first().pool();
    if (there.isPresent() && !there.get().normalize().equals(pool.toAbsolutePath().normalize())) {
      throw misused(
          "--pool "
              + pool
              + ": "
              + dev.path()
              + " has its pool at "
              + there.get()
              + "; `tako dev stop --dir "
              + dev.path()
              + "` deletes it, or name another --dir");
    }
  }

  /** Empty pools are new servers, of which a majority cannot have what those had. */
  private void requireMajority() throws IOException {
    List<DevServer> all = dev.servers();
    int lost = 0;
    for (DevServer server : all) {
      lost += server.isPoolLost() ? 1 : 0;
    }
    if (format && all.size() > 1 && 2 * lost > all.size()) {
      throw misused(
          "--format: "
              + lost
              + " of "
              + all.size()
              + " servers lost their pools, and with them the namespace; `tako dev stop --dir "
              + dev.path()
              + "` deletes the rest");
    }
  }

  private ParameterException misused(String what) {
    return new ParameterException(spec.commandLine(), what);
  }

  private DevSite site() {
    return new DevSite(dev.site());
  }

  /** The size of a pool that is made now: as that of the first start unless another is wanted. */
  private String wantedSize() throws IOException {
    return poolSize == null ? site().poolSize().orElse(POOL_SIZE) : poolSize;
  }

  /** The size to be remembered: a pool that exists keeps its own. */
  private String firstSize() throws IOException {
    boolean isFirst = dev.first().pool().isEmpty();
    return isFirst ? wantedSize() : site().poolSize().orElse(wantedSize());
  }

  /** The addresses of a cluster's servers, for their configuration; none for a server alone. */
  private List<String> addresses() throws IOException {
    if (dev.first().pool().isPresent()) {
      return Files.exists(dev.addresses()) ? Files.readAllLines(dev.addresses()) : List.of();
    }
    Files.deleteIfExists(dev.addresses());
    if (servers == null || servers == 1) {
      return List.of();
    }
    List<String> addresses = freeAddresses(servers);
    Files.write(dev.addresses(), addresses);
    return addresses;
  }

  /**
   * Each at a loopback address of its own: Hadoop takes the servers for hosts of their own then.
   */
  private static List<String> freeAddresses(int count) throws IOException {
    List<InetAddress> hosts = new ArrayList<>();
    for (int server = 1; server <= count; server++) {
      hosts.add(InetAddress.getByName("127.0.0." + server));
    }
    List<Integer> ports = new FreePorts(new Random()).at(hosts);
    List<String> addresses = new ArrayList<>();
    for (int server = 0; server < count; server++) {
      addresses.add(hosts.get(server).getHostAddress() + ":" + ports.get(server));
    }
    return addresses;
  }

  /**
   * Starts those that do not run, all at once, because the servers of a cluster wait for each
   * other. Where one of a new cluster fails nothing is left; where there are files already the
   * other servers go on, for they may have what the failed one had.
   *
   * @param addresses of a cluster's servers; none for one alone
   * @param own keys of the configuration, which is written when the servers serve
   */
  private void start(List<String> addresses, Map<String, String> own) throws Exception {
    boolean isNew = dev.first().pool().isEmpty();
    List<DevServer> all = dev.servers(Math.max(1, addresses.size()));
    Map<DevServer, Process> started = new LinkedHashMap<>();
    try {
      for (int number = 1; number <= all.size(); number++) {
        DevServer server = all.get(number - 1);
        if (server.process().isEmpty()) {
          Files.createDirectories(server.directory());
          started.put(server, server.start(command(server, number, addresses)));
        }
      }
      awaitReady(started);
      Files.writeString(dev.configuration().resolve("core-site.xml"), coreSite(addresses));
      site().write(own);
      if (all.size() > 1) {
        new DevServers(dev, site().added()).await(started);
      }
    } catch (IOException e) {
      if (isNew) {
        started.values().forEach(Process::destroy);
        for (DevServer server : started.keySet()) {
          server.forgetUnmadePool();
        }
      }
      throw e;
    }
  }

  /** Waits for all of them, also when one has failed: the others are to be used then. */
  private void awaitReady(Map<DevServer, Process> started) throws IOException {
    long start = System.nanoTime();
    IOException failure = null;
    for (Map.Entry<DevServer, Process> each : started.entrySet()) {
      try {
        awaitReady(each.getKey(), each.getValue(), start);
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void awaitReady(DevServer server, Process process, long start) throws IOException {
    while (!server.isReady()) {
      server.requireAlive(process);
      if (System.nanoTime() - start > READY_NS) {
        process.destroy();
        throw new IOException("a server was not ready in time; its log: " + server.logFile());
      }
      Clock.SYSTEM.pause(this, POLL_NS, () -> false);
    }
  }

  /** The command line of a server, by its number from 1. */
  private List<String> command(DevServer server, int number, List<String> addresses)
      throws IOException {
    Path poolPath = poolPath(server, number);
    Files.writeString(server.poolNote(), poolPath + System.lineSeparator());
    List<String> command = new ArrayList<>();
    command.add(Installation.home().resolve("bin").resolve("tako").toString());
    command.add("server");
    if (format && !Files.exists(poolPath)) {
      command.add("--format");
    }
    addKeys(command, site().addedForServers());
    if (addresses.isEmpty()) {
      command.add("-Dfs.tako.server.port=0");
    } else {
      String mine = addresses.get(number - 1);
      command.add("-Dfs.tako.server.host=" + ServerList.host(mine));
      command.add("-Dfs.tako.server.port=" + ServerList.port(mine));
    }
    addKeys(command, clusterKeys(addresses));
    command.add("-Dfs.tako.server.http.user=" + System.getProperty("user.name"));
    command.add("-Dfs.tako.server.pool.path=" + poolPath);
    command.add("-Dfs.tako.server.pool.size=" + wantedSize());
    command.add("-Dfs.tako.server.state.dir=" + server.state());
    command.add(server.uriFileOption());
    return command;
  }

  private static void addKeys(List<String> command, Map<String, String> keys) {
    keys.forEach((key, value) -> command.add("-D" + key + "=" + value));
  }

  /** The keys by which servers and commands find the cluster; none for a server alone. */
  private static Map<String, String> clusterKeys(List<String> addresses) {
    return addresses.isEmpty()
        ? Map.of()
        : Map.of(ConfigKeys.CLUSTER_SERVERS.name(), String.join(",", addresses));
  }

  /** The pool of one of this directory's servers: where it was, or beside the first one's. */
  private Path poolPath(DevServer server, int number) throws IOException {
    Optional<Path> there = server.pool();
    if (there.isPresent()) {
      return there.get();
    }
    Path first =
        pool != null
            ? pool.toAbsolutePath()
            : Path.of("/dev/shm", "tako-dev-" + Integer.toHexString(dev.path().hashCode()));
    return number == 1 ? first : first.resolveSibling(first.getFileName() + "-" + number);
  }

  /** {@code tako dev stop}: ends them and removes their pools. */
  @Command(
      name = "stop",
      description = "Stops the local data servers and removes their pools, files and all.")
  static final class Stop implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Mixin private DevDirectory dev;

    @Option(names = "--keep-pool", description = "Keep the pools for the next start.")
    private boolean keepPool;

    @Override
    public Integer call() throws Exception {
      List<ProcessHandle> running = dev.processes();
      running.forEach(ProcessHandle::destroy);
      for (ProcessHandle server : running) {
        DevServer.awaitEnd(server);
      }
      for (DevServer server : dev.servers()) {
        server.forget(keepPool, spec.commandLine().getErr());
      }
      if (!keepPool) {
        for (Path catalog : dev.catalogs()) {
          removeTree(catalog);
        }
        Files.deleteIfExists(dev.addresses());
        new DevSite(dev.site()).write(Map.of());
      }
      spec.commandLine()
          .getOut()
          .println(running.isEmpty() ? "no local server runs in " + dev.path() : "stopped");
      return 0;
    }

    private static void removeTree(Path directory) throws IOException {
      if (!Files.exists(directory)) {
        return;
      }
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
