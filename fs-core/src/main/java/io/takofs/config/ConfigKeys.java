package io.takofs.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Every configuration key, once. {@code conf/tako-site.xml} is rendered from this list and a test
 * keeps the two equal.
 *
 * <p>Thread rule: immutable, any thread.
 */
public final class ConfigKeys {
  /** Prefix of all keys. */
  public static final String PREFIX = "fs.tako.";

  private static final List<ConfigKey<?>> KEYS = new ArrayList<>();

  // ---- client

  /** Transport between clients and the server. */
  public static final ConfigKey<TransportChoice> TRANSPORT =
      register(
          ConfigKey.choice(
              "fs.tako.transport",
              TransportChoice.AUTO,
              "How a client reaches the server: auto takes shared memory when the server is on the"
                  + " same host and offers it, verbs when both hosts have an RDMA device with an"
                  + " active port, and tcp otherwise."));

  /** The RDMA device to use. */
  public static final ConfigKey<String> VERBS_ADDRESS =
      register(
          ConfigKey.string(
                  "fs.tako.verbs.address",
                  "an IPv4 address of this machine that an RDMA device has; empty for the first"
                      + " with an active port",
                  "",
                  "Names the RDMA device that a client uses, and a server that listens on all"
                      + " addresses.",
                  address -> address)
              .readByBoth());

  /** Deadline of one call. */
  public static final ConfigKey<Duration> CLIENT_TIMEOUT =
      register(
          ConfigKey.duration(
              "fs.tako.client.timeout",
              "10ms",
              "1h",
              "30s",
              "Deadline of one call, reconnecting and sending again included. A server that does"
                  + " not answer in this time fails the call with an error that names it."));

  /** Deadline of one attempt to connect. */
  public static final ConfigKey<Duration> CLIENT_CONNECT_TIMEOUT =
      register(
          ConfigKey.duration(
              "fs.tako.client.connect.timeout",
              "10ms",
              "10m",
              "5s",
              "How long one attempt to connect may take before the next one is made."));

  /** Patience with one of several servers that have the same data. */
  public static final ConfigKey<Duration> REPLICA_TIMEOUT =
      register(
          ConfigKey.duration(
              "fs.tako.client.replica.timeout",
              "10ms",
              "10m",
              "5s",
              "How long a server may take for file data that other servers have too. A reader then"
                  + " asks another one, and a writer goes on without this one; so does a writer of"
                  + " one copy, as long as nothing of that is there."));

  /** Time after which a read may be asked of another server, too. */
  public static final ConfigKey<Duration> HEDGED_READ_THRESHOLD =
      register(
          ConfigKey.duration(
              "fs.tako.client.hedged.read.threshold",
              "0ms",
              "10m",
              "50ms",
              "Time that a read of file data takes at least, over TCP or verbs, before it is asked"
                  + " of another server that has the data, too; it must also be much longer than"
                  + " usual. The first answer counts. 0ms for never."));

  /** Life of connections that nobody uses. */
  public static final ConfigKey<Duration> CLIENT_IDLE_TIMEOUT =
      register(
          ConfigKey.duration(
              "fs.tako.client.idle.timeout",
              "1s",
              "24h",
              "10m",
              "How long a client that has no file open for writing keeps connections that it does"
                  + " not use; the next call makes them anew."));

  /** First pause between attempts to reconnect. */
  public static final ConfigKey<Duration> CLIENT_BACKOFF_MIN =
      register(
          ConfigKey.duration(
              "fs.tako.client.backoff.min",
              "1ms",
              "1m",
              "10ms",
              "Pause after the first failed attempt to connect; it doubles with each further"
                  + " one."));

  /** Longest pause between attempts to reconnect. */
  public static final ConfigKey<Duration> CLIENT_BACKOFF_MAX =
      register(
          ConfigKey.duration(
              "fs.tako.client.backoff.max",
              "1ms",
              "10m",
              "500ms",
              "Longest pause between two attempts to connect."));

  /** Block size that files report. */
  public static final ConfigKey<Long> BLOCK_SIZE =
      register(
          ConfigKey.size(
                  "fs.tako.block.size",
                  "64k",
                  "1t",
                  "128m",
                  "Block size that new files report to Hadoop, which makes input splits of it. The"
                      + " place of the bytes does not depend on it.")
              .readByBoth());

  /** Smallest block size that a creator may name. */
  public static final ConfigKey<Long> BLOCK_SIZE_MIN =
      register(
          ConfigKey.size(
              "fs.tako.server.block.size.min",
              "1",
              "1t",
              "1m",
              "Smallest block size that the creator of a file may ask for. Hadoop makes an input"
                  + " split of each block, so tiny ones make a job of one file enormous."));

  /** Replication that files report. */
  public static final ConfigKey<Integer> REPLICATION =
      register(
          ConfigKey.integer(
              "fs.tako.replication",
              0,
              512,
              0,
              "Replication that new files record: how many servers keep a copy of their data, as"
                  + " far as there are so many and fs.tako.replication.max allows it. A server"
                  + " alone keeps one copy whatever it says. 0 for what the server says: 3 in a"
                  + " cluster, 1 of a server alone."));

  /** Copies at most. */
  public static final ConfigKey<Integer> REPLICATION_MAX =
      register(
          ConfigKey.integer(
                  "fs.tako.replication.max",
                  1,
                  16,
                  3,
                  "Copies that a cluster keeps of file data at most, whatever files ask for:"
                      + " MapReduce asks for 10 copies of what it submits.")
              .readByServers());

  /** Copies at least. */
  public static final ConfigKey<Integer> REPLICATION_MIN =
      register(
          ConfigKey.integer(
                  "fs.tako.replication.min",
                  1,
                  16,
                  1,
                  "Copies that new file data must have at least, of files that ask for so many."
                      + " Where fewer servers than a file asks for answer, it is written to those"
                      + " there are; writing waits, and then fails, when they are fewer than this.")
              .readByServers());

  /** Bytes of one staging buffer of a writer. */
  public static final ConfigKey<Long> WRITE_BUFFER_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.write.buffer.size",
              "64k",
              "16m",
              "1m",
              "Bytes a writer over tcp or verbs gathers before it sends them. Shared memory is"
                  + " written directly and needs none."));

  /** Staging buffers of a writer. */
  public static final ConfigKey<Integer> WRITE_BUFFERS =
      register(
          ConfigKey.integer(
              "fs.tako.write.buffers",
              1,
              64,
              3,
              "Buffers a writer over tcp or verbs may have under way at once."));

  /** Bytes read ahead over tcp and verbs. */
  public static final ConfigKey<Long> READ_AHEAD_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.read.ahead.size",
              "0",
              "64m",
              "4m",
              "Bytes a sequential reader over tcp or verbs asks for before they are wanted; 0 turns"
                  + " it off. Shared memory needs none."));

  /** Bytes of buffers of a client. */
  public static final ConfigKey<Long> CLIENT_MEMORY_MAX =
      register(
          ConfigKey.size(
              "fs.tako.client.memory.max",
              "4m",
              "1t",
              "256m",
              "Bytes of buffers that the streams of one client over tcp and verbs have at most,"
                  + " outside of the Java heap. Half of them serve only to be faster: reading"
                  + " ahead, and further buffers of a writer. At the limit transfers become smaller"
                  + " and wait for each other. Shared memory needs none."));

  // ---- server

  /** Address the server listens on. */
  public static final ConfigKey<String> SERVER_HOST =
      register(
          ConfigKey.string(
              "fs.tako.server.host",
              "a host name or address of this machine; 0.0.0.0 for all",
              "127.0.0.1",
              "Address the server listens on.",
              ConfigKeys::notEmpty));

  /** Port the server listens on. */
  public static final ConfigKey<Integer> SERVER_PORT =
      register(
          ConfigKey.integer(
              "fs.tako.server.port",
              0,
              65535,
              7420,
              "Port the server listens on; 0 takes a free one."));

  /** Address of the server's pages. */
  public static final ConfigKey<String> HTTP_ADDRESS =
      register(
          ConfigKey.string(
              "fs.tako.server.http.address",
              "auto, host:port, :port, or empty",
              "auto",
              "Where the server shows metrics, its state and pages for people over HTTP. auto is"
                  + " the server's host and the port above its own, or a free one where that is"
                  + " taken; without a host it is the server's. Empty turns it off.",
              ConfigKeys::httpAddress));

  /** The user whose permissions apply to the server's pages. */
  public static final ConfigKey<String> HTTP_USER =
      register(
          ConfigKey.string(
              "fs.tako.server.http.user",
              "a user name, or empty",
              "",
              "User whose permissions hold for what the server's pages show of files, whoever looks"
                  + " at them. Empty: they show no names of files, unless the server does not check"
                  + " permissions.",
              user -> user));

  /** Directory of the pool. */
  public static final ConfigKey<String> POOL_PATH =
      register(
          ConfigKey.string(
              "fs.tako.server.pool.path",
              "a directory on tmpfs, hugetlbfs or DAX",
              "/dev/shm/tako",
              "Directory of the pool, the memory that holds everything. It is made when missing;"
                  + " what a pool there holds is kept.",
              ConfigKeys::notEmpty));

  /** Directory of what a server remembers outside of its pool. */
  public static final ConfigKey<String> STATE_DIR =
      register(
          ConfigKey.string(
              "fs.tako.server.state.dir",
              "a directory on a disk, or empty",
              "",
              "Where the server remembers which pool it had: a start that finds none where one was"
                  + " refuses, unless a boot explains it. Empty: STATE_DIRECTORY, which systemd"
                  + " sets, else XDG_STATE_HOME/tako, else ~/.local/state/tako.",
              directory -> directory));

  /** Bytes of the pool. */
  public static final ConfigKey<Long> POOL_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.server.pool.size",
              "32m",
              "16t",
              "2g",
              "Bytes of the pool, all of them allocated when it is formatted; later the pool keeps"
                  + " its size. Data gets what pages and log leave."));

  /** Bytes of the page zone. */
  public static final ConfigKey<Long> PAGES_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.server.pool.pages.size",
              "0",
              "4t",
              "0",
              "Bytes of the pool for the namespace and other metadata, at least 8m; 0 takes a"
                  + " sixteenth of it."));

  /** Bytes of the log zone. */
  public static final ConfigKey<Long> LOG_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.server.pool.log.size",
              "0",
              "1t",
              "0",
              "Bytes of the pool for the log, at least 16m; 0 takes a sixteenth of it, 24m to 256m."
                  + " Less than twice fs.tako.server.checkpoint.size makes checkpoints come"
                  + " earlier."));

  /** Connections that carry calls, a transport. */
  public static final ConfigKey<Integer> CONNECTIONS_MAX =
      register(
          ConfigKey.integer(
              "fs.tako.server.connections.max",
              1,
              4096,
              256,
              "Clients that may be connected over one transport at a time; each takes 1 MiB of the"
                  + " server's memory, and 64 KiB more for each call it has under way at a time."
                  + " More are refused."));

  /** Log bytes between checkpoints. */
  public static final ConfigKey<Long> CHECKPOINT_SIZE =
      register(
          ConfigKey.size(
              "fs.tako.server.checkpoint.size",
              "1m",
              "1t",
              "64m",
              "Bytes of log after which a checkpoint is written; it bounds the work of a"
                  + " restart. Servers that keep a namespace together write one after 1g at the"
                  + " latest, or 2g while one of them is away."));

  /** Time that a session outlives its connection. */
  public static final ConfigKey<Duration> SESSION_TTL =
      register(
          ConfigKey.duration(
              "fs.tako.server.session.ttl",
              "100ms",
              "1h",
              "10s",
              "How long the server keeps the session of a client whose connection is gone. At its"
                  + " end the files the client was writing are closed at their flushed length."));

  /** When another writer may take a lease over. */
  public static final ConfigKey<Duration> LEASE_SOFT_LIMIT =
      register(
          ConfigKey.duration(
              "fs.tako.server.lease.soft",
              "100ms",
              "1d",
              "1m",
              "Silence of a writer after which another writer may take its file over."));

  /** When the server recovers a lease by itself. */
  public static final ConfigKey<Duration> LEASE_HARD_LIMIT =
      register(
          ConfigKey.duration(
              "fs.tako.server.lease.hard",
              "100ms",
              "7d",
              "20m",
              "Silence of a writer after which the server closes its file by itself."));

  /** Rest of freed extents. */
  public static final ConfigKey<Duration> QUARANTINE =
      register(
          ConfigKey.duration(
              "fs.tako.server.quarantine",
              "0ms",
              "1h",
              "2s",
              "How long the space of deleted data rests before it is used again, so that readers"
                  + " that still hold its place are not surprised. A full pool ends the rest early"
                  + " where that is safe."));

  /** Whether permissions are checked. */
  public static final ConfigKey<Boolean> PERMISSIONS_ENABLED =
      register(
          ConfigKey.bool(
              "fs.tako.server.permissions.enabled",
              true,
              "Whether permissions are checked; owners and modes are kept in either case."));

  /** The group whose members may do everything. */
  public static final ConfigKey<String> SUPERGROUP =
      register(
          ConfigKey.string(
              "fs.tako.server.supergroup",
              "a group name",
              "supergroup",
              "Group whose members may do everything, as the user that runs the server may.",
              ConfigKeys::notEmpty));

  /** Groups of users, fixed. */
  public static final ConfigKey<String> GROUPS =
      register(
          ConfigKey.string(
              "fs.tako.server.groups",
              "user=group,group;user=group, or empty",
              "",
              "Groups of users, instead of those the server's operating system knows. A user who is"
                  + " named with no group has none.",
              ConfigKeys::groupMapping));

  // ---- cluster

  /** The servers of the cluster. */
  public static final ConfigKey<String> CLUSTER_SERVERS =
      register(
          ConfigKey.string(
                  "fs.tako.cluster.servers",
                  ServerList.ALLOWED + ", or empty",
                  "",
                  "Servers of the cluster, the same list on each of them; the first begins the"
                      + " cluster. A server finds itself there by its host and port. Empty: a server"
                      + " alone.",
                  ConfigKeys::serverList)
              .readByServers());

  /** Members of the group that has the namespace. */
  public static final ConfigKey<Integer> GROUP_MEMBERS =
      register(
          ConfigKey.integer(
                  "fs.tako.group.members",
                  1,
                  5,
                  3,
                  "Servers that keep the namespace, where a cluster has as many: with 3, nothing is"
                      + " lost when one of them is. An even number counts as the odd one below it.")
              .readByServers());

  /** Time after which a leader is missed. */
  public static final ConfigKey<Duration> ELECTION_TIMEOUT =
      register(
          ConfigKey.duration(
                  "fs.tako.group.election.timeout",
                  "20ms",
                  "1m",
                  "300ms",
                  "How long the leader of the namespace may be silent before another server takes"
                      + " its place; each server waits for a time of its own between this and twice"
                      + " as long. Shorter pauses of its process must not cost it its place.")
              .readByServers());

  /** Time for which a leader reads without asking anybody. */
  public static final ConfigKey<Duration> READ_LEASE =
      register(
          ConfigKey.duration(
                  "fs.tako.group.read.lease",
                  "0us",
                  "1m",
                  "0us",
                  "How long the leader of the namespace answers queries without asking the other"
                      + " members, after a majority of them has taken a heartbeat; 0 to ask for each"
                      + " query, once for all that wait. More than nine tenths of"
                      + " fs.tako.group.election.timeout counts as that. It assumes that the servers'"
                      + " monotonic clocks differ by less than 5 % while it lasts, also where a"
                      + " machine stands still: a leader in a virtual machine that is stopped, or"
                      + " moved, and whose clock stands still with it, could answer with what is not"
                      + " the newest. Leases of writers are always renewed with a proof.")
              .readByServers());

  /** Time after which a silent member is replaced. */
  public static final ConfigKey<Duration> REPLACE_AFTER =
      register(
          ConfigKey.duration(
                  "fs.tako.group.replace.after",
                  "1s",
                  "7d",
                  "5m",
                  "How long one of the servers that keep the namespace may be silent before"
                      + " another server, where there is one, takes its place.")
              .readByServers());

  /** Name of the cluster. */
  public static final ConfigKey<String> CLUSTER_NAME =
      register(
          ConfigKey.string(
                  "fs.tako.cluster.name",
                  "letters, digits and hyphens",
                  "tako",
                  "Name that a new cluster gets. Clients reach the cluster as tako://NAME/ when"
                      + " fs.tako.cluster.NAME.servers has its list of servers.",
                  ConfigKeys::clusterName)
              .readByServers());

  /** Directory of the catalog. */
  public static final ConfigKey<String> CATALOG_DIR =
      register(
          ConfigKey.string(
                  "fs.tako.cluster.catalog.dir",
                  "a directory that all servers share, or empty",
                  "",
                  "Where the catalog of the cluster is, in a file: a directory on a disk that all"
                      + " servers have, as by NFS. Empty: the first three servers of"
                      + " fs.tako.cluster.servers keep the catalog, or the first one where there"
                      + " are only two.",
                  directory -> directory)
              .readByServers());

  /** Directory of a peer of the catalog. */
  public static final ConfigKey<String> CATALOG_LOG_DIR =
      register(
          ConfigKey.string(
                  "fs.tako.cluster.catalog.log.dir",
                  "a directory on a disk, or empty",
                  "",
                  "Where one of the servers that keep the catalog has its part of it. It is the"
                      + " server's own and must survive a boot. Empty: catalog-PORT in the"
                      + " directory of fs.tako.server.state.dir.",
                  directory -> directory)
              .readByServers());

  /** File with the secret of the cluster's servers. */
  public static final ConfigKey<String> SECRET_FILE =
      register(
          ConfigKey.string(
                  "fs.tako.cluster.secret.file",
                  "a file that its owner alone may read, or empty",
                  "",
                  "File with the secret, of at least 16 characters, by which servers know each"
                      + " other. Empty: whoever reaches a server's port is believed to be a"
                      + " server.",
                  file -> file)
              .readByServers());

  /** Difference of clocks at most. */
  public static final ConfigKey<Duration> CLOCK_SKEW_MAX =
      register(
          ConfigKey.duration(
                  "fs.tako.cluster.clock.skew.max",
                  "100ms",
                  "1d",
                  "1m",
                  "A server whose clock differs more from the catalog's does not join.")
              .readByServers());

  /** Silence after which a data server counts as dead. */
  public static final ConfigKey<Duration> DEAD_INTERVAL =
      register(
          ConfigKey.duration(
                  "fs.tako.server.dead.interval",
                  "1s",
                  "1d",
                  "10s",
                  "Silence after which a server counts as dead: it gets nothing new, and its copies"
                      + " are made again elsewhere.")
              .readByServers());

  /** Time after the start of a leader in which no server counts as dead. */
  public static final ConfigKey<Duration> REPAIR_START_DELAY =
      register(
          ConfigKey.duration(
                  "fs.tako.repair.start.delay",
                  "0ms",
                  "1d",
                  "1m",
                  "How long a server with the namespace that was started waits for the others"
                      + " before a silent one counts as dead. Once all have answered it waits no"
                      + " more.")
              .readByServers());

  /** Bytes a second that the making of copies may read. */
  public static final ConfigKey<Long> REPAIR_BANDWIDTH =
      register(
          ConfigKey.size(
                  "fs.tako.repair.bandwidth",
                  "0",
                  "1t",
                  "200m",
                  "Bytes a second that servers read, all together, to make copies again that were lost"
                      + " or that leave a server, and to move files that are to have another number of"
                      + " copies; 0 for no limit.")
              .readByServers());

  /** Whether copies move from full servers to emptier ones. */
  public static final ConfigKey<Boolean> REBALANCE =
      register(
          ConfigKey.bool(
                  "fs.tako.rebalance.enabled",
                  true,
                  "Whether copies move, one at a time and within the bandwidth of repair: to another"
                      + " rack where all copies are in one, and from full servers to emptier ones"
                      + " until none is fuller or emptier than the mean by more than 5 %.")
              .readByServers());

  /** Time in which each server verifies all of its copies once. */
  public static final ConfigKey<Duration> SCRUB_PERIOD =
      register(
          ConfigKey.duration(
                  "fs.tako.scrub.period",
                  "0ms",
                  "3650d",
                  "7d",
                  "How often each server verifies all file data that it keeps against the"
                      + " checksums; 0ms for never. A copy that is wrong is replaced by a good"
                      + " one. Of a cluster, what the server with the namespace has holds for all"
                      + " servers.")
              .readByServers());

  /** Bytes a second that each server verifies. */
  public static final ConfigKey<Long> SCRUB_BANDWIDTH =
      register(
          ConfigKey.size(
                  "fs.tako.scrub.bandwidth",
                  "0",
                  "1t",
                  "16m",
                  "Bytes a second that a server verifies; 0 for no limit. Of a cluster, what the"
                      + " server with the namespace has holds for all servers.")
              .readByServers());

  /** Hadoop's topology script. */
  public static final ConfigKey<String> TOPOLOGY_SCRIPT =
      register(
          ConfigKey.string(
                  "net.topology.script.file.name",
                  "a program, or empty",
                  "",
                  "Hadoop's program that prints the rack of the host in its argument. A host is in"
                      + " /default-rack without one, or when it fails.",
                  script -> script)
              .readByServers());

  private ConfigKeys() {}

  private static <T> ConfigKey<T> register(ConfigKey<T> key) {
    KEYS.add(key);
    return key;
  }

  /** All keys in the order of their declaration. */
  public static List<ConfigKey<?>> all() {
    return Collections.unmodifiableList(KEYS);
  }

  /** The key named {@code name}; null when there is none. */
  public static ConfigKey<?> find(String name) {
    for (ConfigKey<?> key : KEYS) {
      if (key.name().equals(name)) {
        return key;
      }
    }
    return null;
  }

  /** The key whose name needs the fewest edits to become {@code name}. */
  static ConfigKey<?> nearest(String name) {
    ConfigKey<?> best = KEYS.get(0);
    int bestDistance = Integer.MAX_VALUE;
    for (ConfigKey<?> key : KEYS) {
      int distance = EditDistance.between(name, key.name());
      if (distance < bestDistance) {
        bestDistance = distance;
        best = key;
      }
    }
    return best;
  }

  /** What to say of {@code name}, which is no key. */
  public static String unknown(String name) {
    return "unknown key " + name + "; did you mean " + nearest(name).name() + "?";
  }

  private static String notEmpty(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("empty");
    }
    return text;
  }

  private static String serverList(String text) {
    return String.join(",", ServerList.parse(text));
  }

  private static String clusterName(String text) {
    if (!text.matches("[A-Za-z0-9][A-Za-z0-9-]*")) {
      throw new IllegalArgumentException("not a name");
    }
    return text;
  }

  private static String httpAddress(String text) {
    if (!text.isEmpty() && !text.equals("auto")) {
      int port = Integer.parseInt(text.substring(text.lastIndexOf(':') + 1));
      if (!text.contains(":") || port < 0 || port > 65535) {
        throw new IllegalArgumentException("no port");
      }
    }
    return text;
  }

  private static String groupMapping(String text) {
    for (String entry : text.split(";", -1)) {
      if (!entry.isBlank() && entry.strip().indexOf('=') < 1) {
        throw new IllegalArgumentException("no user before =");
      }
    }
    return text;
  }
}
