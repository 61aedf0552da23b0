package io.takofs.bench.hadoop;

import io.takofs.base.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.hdfs.qjournal.server.JournalNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider;
import org.apache.hadoop.hdfs.tools.NNHAServiceTarget;
import org.apache.hadoop.ipc.RPC;

/**
 * Two NameNodes, the first active and the second on standby, and three JournalNodes: an operation
 * is done when two of these have it. Nothing fails over by itself, so there is no ZooKeeper.
 *
 * <p>Thread rule: one thread.
 */
final class NameNodePair implements NameNodes {
  static final String ACTIVE = "nn1";
  static final String STANDBY = "nn2";

  /** The name that clients have for both. */
  static final String SERVICE = "bench";

  private static final List<String> IDS = List.of(ACTIVE, STANDBY);
  private static final int JOURNALS = 3;
  private static final int CALL_TIMEOUT_MS = 20_000;

  private final List<Integer> ports; // of calls
  private final List<Integer> pages; // from which a NameNode gets the other one's images
  private final List<Integer> journals;

  NameNodePair() throws IOException {
    int pair = IDS.size();
    List<Integer> free = new FreePorts(new Random()).onLoopback(2 * pair + JOURNALS);
    ports = free.subList(0, pair);
    pages = free.subList(pair, 2 * pair);
    journals = free.subList(2 * pair, free.size());
  }

  @Override
  public URI uri() {
    return URI.create("hdfs://" + SERVICE);
  }

  @Override
  public void addTo(Configuration conf) {
    conf.set("dfs.nameservices", SERVICE);
    conf.set("dfs.ha.namenodes." + SERVICE, String.join(",", IDS));
    conf.set(
        "dfs.client.failover.proxy.provider." + SERVICE,
        ConfiguredFailoverProxyProvider.class.getName());
    setOfEach(conf, "dfs.namenode.rpc-address", ports);
  }

  @Override
  public void configure(Configuration site, Path directory) {
    setOfEach(site, "dfs.namenode.http-address", pages);
    for (String id : IDS) {
      site.set(
          "dfs.namenode.name.dir." + SERVICE + "." + id,
          directory.resolve("name-" + id).toUri().toString());
    }
    site.set(
        "dfs.namenode.shared.edits.dir",
        journals.stream()
            .map(port -> "localhost:" + port)
            .collect(Collectors.joining(";", "qjournal://", "/" + SERVICE)));
  }

  @Override
  public void start(HadoopDaemons daemons, Path directory) throws Exception {
    for (int port : journals) {
      String name = "journalnode-" + (journals.indexOf(port) + 1);
      daemons.start(
          name,
          JournalNode.class.getName(),
          "-Ddfs.journalnode.edits.dir=" + directory.resolve(name).toAbsolutePath(),
          "-Ddfs.journalnode.rpc-address=localhost:" + port,
          "-Ddfs.journalnode.http-address=localhost:0");
    }
    daemons.await("the JournalNodes", this::journalsListen);
    daemons.run("format", NameNode.class.getName(), idOf(ACTIVE), "-format", "-nonInteractive");
    daemons.start("namenode-" + ACTIVE, NameNode.class.getName(), idOf(ACTIVE));
    daemons.await("the first NameNode", () -> stateOf(ACTIVE) == HAServiceState.STANDBY);
    daemons.run("bootstrap", NameNode.class.getName(), idOf(STANDBY), "-bootstrapStandby");
    daemons.start("namenode-" + STANDBY, NameNode.class.getName(), idOf(STANDBY));
  }

  /** Makes the first one active when the other one is there to follow it. */
  @Override
  public boolean areReady() throws IOException {
    if (stateOf(STANDBY) != HAServiceState.STANDBY) {
      return false;
    }
    if (stateOf(ACTIVE) != HAServiceState.ACTIVE) {
      activate(conf(), ACTIVE);
    }
    return true;
  }

  /**
   * Does the same as {@code hdfs haadmin -transitionToActive}.
   *
   * @param conf that clients have
   * @param id of a NameNode; the other one is on standby or does not run
   * @throws IOException when it does not answer or refuses
   */
  static void activate(Configuration conf, String id) throws IOException {
    HAServiceProtocol server = proxy(conf, id);
    try {
      server.transitionToActive(new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER));
    } finally {
      RPC.stopProxy(server);
    }
  }

  private HAServiceState stateOf(String id) throws IOException {
    HAServiceProtocol server = proxy(conf(), id);
    try {
      return server.getServiceStatus().getState();
    } finally {
      RPC.stopProxy(server);
    }
  }

  private static HAServiceProtocol proxy(Configuration conf, String id) throws IOException {
    return new NNHAServiceTarget(conf, SERVICE, id).getProxy(conf, CALL_TIMEOUT_MS);
  }

  private Configuration conf() {
    Configuration conf = new Configuration();
    addTo(conf);
    return conf;
  }

  private boolean journalsListen() throws IOException {
    for (int port : journals) {
      new Socket(InetAddress.getLoopbackAddress(), port).close();
    }
    return true;
  }

  /** Both run on one host, by which they could not tell which of the two they are. */
  private static String idOf(String id) {
    return "-Ddfs.ha.namenode.id=" + id;
  }

  private static void setOfEach(Configuration conf, String key, List<Integer> ports) {
    for (int i = 0; i < IDS.size(); i++) {
      conf.set(key + "." + SERVICE + "." + IDS.get(i), "localhost:" + ports.get(i));
    }
  }
}
