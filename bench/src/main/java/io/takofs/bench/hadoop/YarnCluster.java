package io.takofs.bench.hadoop;

import io.takofs.base.FreePorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer;
import org.apache.hadoop.mapreduce.v2.jobhistory.JHAdminConfig;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;

/**
 * YARN as its users run it: a ResourceManager, NodeManagers and a JobHistoryServer, with the
 * staging directory, the jobs' history and the aggregated logs on the file system under test. Each
 * NodeManager listens at an address of its own, which YARN takes for a host.
 *
 * <p>Thread rule: one thread.
 */
public final class YarnCluster implements AutoCloseable {
  private static final String CLASS_PATH = System.getProperty("java.class.path").replace(':', ',');

  private static final List<String> RESOURCE_MANAGER =
      List.of(
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
          YarnConfiguration.RM_ADMIN_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS);

  private static final List<String> HISTORY_SERVER =
      List.of(
          JHAdminConfig.MR_HISTORY_ADDRESS,
          JHAdminConfig.MR_HISTORY_WEBAPP_ADDRESS,
          JHAdminConfig.JHS_ADMIN_ADDRESS);

  /** A job's master does little more than start. */
  private static final String SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ";

  private final Path directory;
  private final HadoopDaemons daemons;
  private final Map<String, Process> nodes = new LinkedHashMap<>(); // by host
  private final Configuration configuration = new YarnConfiguration();
  private final Iterator<Integer> ports =
      new FreePorts(new Random())
          .onLoopback(RESOURCE_MANAGER.size() + HISTORY_SERVER.size())
          .iterator();

  /**
   * The hosts that YARN has.
   *
   * @param nodes addresses of this machine, one for each NodeManager
   * @param topology Hadoop's script that tells the rack of an address; empty for none
   */
  public record Hosts(List<String> nodes, String topology) {
    /** One NodeManager, and no racks. */
    public static final Hosts ONE = new Hosts(List.of("localhost"), "");
  }

  /**
   * Starts it.
   *
   * @param directory a missing directory of the local file system; removed at the end
   * @param base a directory of the file system, which it becomes the default of
   */
  public YarnCluster(Path directory, org.apache.hadoop.fs.Path base, Hosts hosts) throws Exception {
    this.directory = directory;
    daemons = new HadoopDaemons(directory, List.of());
    configure(core(directory, base, hosts.topology), "core-site.xml");
    configure(yarn(base, hosts.nodes.size()), "yarn-site.xml");
    configure(mapReduce(base), "mapred-site.xml");
    configure(scheduler(), "capacity-scheduler.xml");
    daemons.start("resourcemanager", ResourceManager.class.getName());
    daemons.start("historyserver", JobHistoryServer.class.getName());
    runOn(hosts.nodes);
  }

  /** Starts and ends NodeManagers until those of {@code hosts} run and no others. */
  public void runOn(List<String> hosts) throws Exception {
    for (String host : new ArrayList<>(nodes.keySet())) {
      if (!hosts.contains(host)) {
        daemons.stop(nodes.remove(host));
      }
    }
    for (String host : hosts) {
      if (!nodes.containsKey(host)) {
        nodes.put(host, startNode(host));
      }
    }
    daemons.await("YARN", () -> runningNodes() == hosts.size());
  }

  private Process startNode(String host) throws IOException {
    Path own = directory.resolve("node-" + host);
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(YarnConfiguration.NM_ADDRESS, host + ":0");
    settings.put(YarnConfiguration.NM_LOCALIZER_ADDRESS, host + ":0");
    settings.put(YarnConfiguration.NM_WEBAPP_ADDRESS, host + ":0");
    settings.put(YarnConfiguration.NM_LOCAL_DIRS, own.resolve("local").toString());
    settings.put(YarnConfiguration.NM_LOG_DIRS, own.resolve("logs").toString());
    List<String> arguments = new ArrayList<>();
    settings.forEach((key, value) -> arguments.add("-D" + key + "=" + value));
    return daemons.start(
        "nodemanager-" + host, NodeManager.class.getName(), arguments.toArray(String[]::new));
  }

  /** The last lines of the daemons' logs, for a failure. */
  public String logTails() throws IOException {
    return daemons.logTails();
  }

  /** The configuration for a client of the cluster. */
  public Configuration configuration() {
    return new Configuration(configuration);
  }

  @Override
  public void close() throws IOException {
    daemons.close();
  }

  private void configure(Configuration site, String name) throws IOException {
    daemons.configure(site, name);
    configuration.addResource(
        new org.apache.hadoop.fs.Path(daemons.configuration().resolve(name).toUri()));
  }

  /** Daemons and tasks that start at once leave a data server little of the processor. */
  public static void bePatient(Configuration site) {
    site.set("fs.tako.client.connect.timeout", "1m");
  }

  private static Configuration core(
      Path directory, org.apache.hadoop.fs.Path base, String topology) {
    Configuration site = new Configuration(false);
    site.set(FileSystem.FS_DEFAULT_NAME_KEY, base.toUri().resolve("/").toString());
    site.set("fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs");
    site.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    bePatient(site);
    if (!topology.isEmpty()) {
      site.set(CommonConfigurationKeysPublic.NET_TOPOLOGY_SCRIPT_FILE_NAME_KEY, topology);
    }
    return site;
  }

  private Configuration yarn(org.apache.hadoop.fs.Path base, int nodes) {
    Configuration site = new Configuration(false);
    listen(site, RESOURCE_MANAGER);
    site.set(YarnConfiguration.NM_AUX_SERVICES, ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID);
    site.set(
        String.format(
            YarnConfiguration.NM_AUX_SERVICE_FMT, ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID),
        ShuffleHandler.class.getName());
    // More processors than there may be: with one, a job's master would wait for its own tasks.
    site.setInt(YarnConfiguration.NM_VCORES, 4);
    site.setInt(YarnConfiguration.NM_PMEM_MB, 6144 / nodes);
    site.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 256);
    site.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    // Mapped arenas count as the memory of each process that maps them.
    site.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    site.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 99.5f);
    site.setBoolean(YarnConfiguration.LOG_AGGREGATION_ENABLED, true);
    site.set(YarnConfiguration.NM_REMOTE_APP_LOG_DIR, child(base, "logs"));
    site.set(YarnConfiguration.YARN_APPLICATION_CLASSPATH, CLASS_PATH);
    return site;
  }

  private Configuration mapReduce(org.apache.hadoop.fs.Path base) {
    Configuration site = new Configuration(false);
    site.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    site.set(MRJobConfig.MR_AM_STAGING_DIR, child(base, "staging"));
    site.set(MRJobConfig.MAPREDUCE_APPLICATION_CLASSPATH, CLASS_PATH);
    site.setInt(MRJobConfig.MR_AM_VMEM_MB, 768);
    site.set(MRJobConfig.MR_AM_COMMAND_OPTS, SHORT_LIVED + "-Xmx512m");
    site.setInt(MRJobConfig.MAP_MEMORY_MB, 512);
    site.setInt(MRJobConfig.REDUCE_MEMORY_MB, 512);
    site.set(MRJobConfig.MAP_JAVA_OPTS, "-XX:+UseSerialGC -Xmx350m");
    site.set(MRJobConfig.REDUCE_JAVA_OPTS, "-XX:+UseSerialGC -Xmx350m");
    site.setInt(ShuffleHandler.SHUFFLE_PORT_CONFIG_KEY, 0);
    // A job's history is moved to its place soon after its end, and not every three minutes.
    site.setLong(JHAdminConfig.MR_HISTORY_MOVE_INTERVAL_MS, 1000);
    listen(site, HISTORY_SERVER);
    return site;
  }

  private void listen(Configuration site, List<String> addresses) {
    for (String address : addresses) {
      site.set(address, "localhost:" + ports.next());
    }
  }

  private static Configuration scheduler() {
    Configuration site = new Configuration(false);
    site.set("yarn.scheduler.capacity.root.queues", "default");
    site.set("yarn.scheduler.capacity.root.default.capacity", "100");
    site.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.5");
    return site;
  }

  private static String child(org.apache.hadoop.fs.Path base, String name) {
    return new org.apache.hadoop.fs.Path(base, name).toUri().getPath();
  }

  private int runningNodes() throws Exception {
    Configuration impatient = configuration();
    impatient.setInt("yarn.resourcemanager.connect.max-wait.ms", 1000);
    impatient.setInt("yarn.resourcemanager.connect.retry-interval.ms", 200);
    impatient.setInt("ipc.client.connect.max.retries", 1);
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(impatient);
      client.start();
      return client.getNodeReports(NodeState.RUNNING).size();
    }
  }
}
