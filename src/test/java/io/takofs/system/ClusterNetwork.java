package io.takofs.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A network of this machine's kernel for servers that think they are on machines of their own. Each
 * is in a network namespace with one link to a bridge, on which the test is, too; links are cut as
 * a cable or a switch would fail, without a word to whoever sends.
 *
 * <p>Thread rule: one thread.
 */
final class ClusterNetwork implements AutoCloseable {
  private static final int PORT = 7420;
  private static final long LIMIT_S = 60;

  /** Of nobody: packets to it go to all that are on the bridge, and none of them takes one. */
  private static final String NOWHERE = "02:00:00:00:00:01";

  /** A queue that has room for no packet. */
  private static final String NO_ROOM = " root pfifo limit 0";

  private final String name = "tk" + ProcessHandle.current().pid();

  /** A network for benchmarks of devices, which nobody routes to. */
  private final String prefix = "198.18." + ProcessHandle.current().pid() % 250 + ".";

  private final List<ServerPlace> places = new ArrayList<>();
  private final List<Path> identities = new ArrayList<>();
  private final List<String> undo = new ArrayList<>();

  private ClusterNetwork() {}

  /** Why this machine cannot have such a network; empty when it can. */
  static Optional<String> obstacle() throws Exception {
    String probe = "tkprobe" + ProcessHandle.current().pid();
    try {
      run("ip netns add " + probe);
      try {
        run("ip netns exec " + probe + " mount --bind /dev/null /proc/sys/kernel/random/boot_id");
        run("ip -n " + probe + " link add probe0 type veth peer name probe1");
        run("ip -n " + probe + " link add probe2 type bridge");
        run("tc -n " + probe + " qdisc add dev probe0" + NO_ROOM);
      } finally {
        run("ip netns del " + probe);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** A network for so many servers. */
  static ClusterNetwork of(int servers) throws Exception {
    ClusterNetwork network = new ClusterNetwork();
    try {
      run("ip link add " + network.name + " type bridge");
      run("ip addr add " + network.prefix + "254/24 dev " + network.name);
      run("ip link set " + network.name + " up");
      for (int server = 0; server < servers; server++) {
        network.add(server);
      }
      return network;
    } catch (Exception e) {
      network.close();
      throw e;
    }
  }

  private void add(int server) throws Exception {
    String inside = inside(server);
    String port = port(server);
    run("ip netns add " + inside);
    run("ip link add " + port + " type veth peer name eth0 netns " + inside);
    run("ip link set " + port + " master " + name + " up");
    run("ip -n " + inside + " addr add " + host(server) + "/24 dev eth0");
    run("ip -n " + inside + " link set eth0 up");
    run("ip -n " + inside + " link set lo up");
    // By this, servers know who is on the same machine, whom they would reach by shared memory.
    Path identity = Files.createTempFile("tako-machine-", "");
    identities.add(identity);
    Files.writeString(identity, UUID.randomUUID().toString());
    String mount = "mount --bind " + identity + " /proc/sys/kernel/random/boot_id";
    places.add(
        new ServerPlace(
            host(server),
            PORT + server,
            List.of(
                "ip", "netns", "exec", inside, "sh", "-c", mount + " && exec \"$@\"", "server")));
  }

  /** Where the servers run. */
  List<ServerPlace> places() {
    return places;
  }

  private String inside(int server) {
    return name + "-" + server;
  }

  /** The bridge's end of a server's link. */
  private String port(int server) {
    return name + "p" + server;
  }

  private String host(int server) {
    return prefix + (1 + server);
  }

  /** Takes a server's link down: nothing comes, nothing goes. */
  void cut(int server) throws Exception {
    cut("ip link set " + port(server) + " down", "ip link set " + port(server) + " up");
  }

  /** Loses all that a server sends; it still gets what others send. */
  void silence(int server) throws Exception {
    String device = "tc -n " + inside(server) + " qdisc %s dev eth0";
    cut(device.formatted("add") + NO_ROOM, device.formatted("del") + " root");
  }

  /** Loses all that is sent to a server; others still get what it sends. */
  void deafen(int server) throws Exception {
    String device = "tc qdisc %s dev " + port(server);
    cut(device.formatted("add") + NO_ROOM, device.formatted("del") + " root");
  }

  /** Loses what one server sends to another one, and nothing else. */
  void cutWay(int from, int to) throws Exception {
    String neighbour = "ip -n " + inside(from) + " neigh %s " + host(to);
    cut(
        neighbour.formatted("replace") + " lladdr " + NOWHERE + " dev eth0 nud permanent",
        neighbour.formatted("del") + " dev eth0");
  }

  private void cut(String command, String later) throws Exception {
    run(command);
    undo.add(0, later);
  }

  /** All links carry everything again. */
  void heal() throws Exception {
    while (!undo.isEmpty()) {
      run(undo.get(0));
      undo.remove(0);
    }
  }

  /** Takes everything away again; servers must have ended. */
  @Override
  public void close() throws IOException {
    for (int server = 0; server < identities.size(); server++) {
      Files.deleteIfExists(identities.get(server));
      tryTo("ip netns del " + inside(server)); // its link goes with it
    }
    tryTo("ip link del " + name);
  }

  private static void tryTo(String command) throws IOException {
    try {
      run(command);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted: " + command, e);
    }
  }

  /** Runs a command of words without spaces; fails with what it says. */
  private static void run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.split(" ")).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.format("'%s' failed: %s", command, output));
    }
  }
}
