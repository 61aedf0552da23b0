package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.FileHealth;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SlabStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.TransportStatus;
import io.takofs.server.http.HttpEndpoint;
import io.takofs.server.http.ServerView;
import io.takofs.server.http.Site;
import io.takofs.server.metrics.LatencyBuckets;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.LoneCluster;
import io.takofs.server.report.ClusterReport;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pages of one server and of three, of which one is silent, after an hour of load, in windows
 * that are narrow and wide, light and dark. Pictures are left in {@code target/seen}.
 */
@Timeout(300)
class ClusterPagesTest {
  private static final URI SERVER = URI.create("tako://storage-a.example.org:7420");
  private static final String VERSION = "0.1.0-SNAPSHOT (5b4ecdb)";
  private static final long GIB = 1L << 30;
  private static final int PERIODS = 360;

  @TempDir private static Path directory;
  private static Browser browser;

  @BeforeAll
  static void start() throws Exception {
    Browser.assumeInstalled();
    browser = new Browser(directory);
  }

  @AfterAll
  static void stop() throws Exception {
    if (browser != null) {
      browser.close();
    }
  }

  /** A time that passes when it is told to. */
  private static final class HandClock implements Clock {
    private final AtomicLong ns = new AtomicLong();

    private void pass(Duration time) {
      ns.addAndGet(time.toNanos());
    }

    @Override
    public long nanoTime() {
      return ns.get();
    }

    @Override
    public long currentTimeMillis() {
      return 1_800_000_000_000L + ns.get() / 1_000_000;
    }
  }

  /** A server whose load grows and falls, in a cluster of as many as it is told. */
  private static final class FakeServer implements ServerView, ClusterTopology {
    private final HandClock clock = new HandClock();
    private final ClusterReport report = new ClusterReport(this, clock);
    private volatile ClusterMap map = alone();
    private volatile ServerStatus status = ServerStatus.getDefaultInstance();

    private static ClusterMap alone() {
      LoneCluster cluster = new LoneCluster();
      cluster.show(ServerEntry.newBuilder().setHost(SERVER.getHost()).setPort(7420).build());
      return cluster.map();
    }

    private void load(Site site) {
      long[] calls = new long[LatencyBuckets.COUNT];
      long bytes = 0;
      long lists = 0;
      for (int i = 0; i <= PERIODS; i++) {
        double wave = 1 + Math.sin(i / 30.0);
        lists += Math.round(9000 * wave);
        calls[20 + i % 7] += Math.round(120_000 * wave);
        bytes += Math.round(3.0 * GIB * wave);
        ServerStatus.Builder now =
            ServerStatus.newBuilder()
                .setVersion(VERSION)
                .setUptimeMs(clock.nanoTime() / 1_000_000 + 90_000_000)
                .setUsage(usage(bytes % (200 * GIB)))
                .setCommittedBytes(bytes)
                .addTransports(
                    TransportStatus.newBuilder()
                        .setTransport("tcp")
                        .putCounters("bytes", bytes / 3));
        long[] few = new long[LatencyBuckets.COUNT];
        few[60] = lists;
        now.addOperations(operation("commit_extents", calls)).addOperations(operation("list", few));
        status = now.build();
        site.sample();
        clock.pass(Duration.ofSeconds(10));
      }
    }

    private static OperationStatus operation(String name, long[] latencies) {
      List<Long> buckets = IntStream.range(0, 80).mapToObj(i -> latencies[i]).toList();
      return OperationStatus.newBuilder()
          .setOperation(name)
          .setCalls(buckets.stream().mapToLong(Long::longValue).sum())
          .addAllLatencies(buckets)
          .build();
    }

    private static SpaceUsage usage(long used) {
      return SpaceUsage.newBuilder()
          .setCapacity(256 * GIB)
          .setUsed(used)
          .setFree(256 * GIB - used)
          .build();
    }

    private void joinThree() {
      ClusterMap.Builder next =
          ClusterMap.newBuilder()
              .setName("storage")
              .setEpoch(4)
              .addGroups(GroupEntry.newBuilder().setId(1).addMembers(1));
      for (int id = 1; id <= 3; id++) {
        String host = "storage-" + (char) ('`' + id) + ".datacentre.example.org";
        next.addServers(
            ServerEntry.newBuilder()
                .setId(id)
                .setHost(host)
                .setPort(7420)
                .setRack("/datacentre-1/rack-" + id)
                .setVersion(VERSION)
                .setState(id == 2 ? ServerEntry.State.DECOMMISSIONING : ServerEntry.State.UP)
                .setHttp("http://" + host + ":7421/"));
      }
      map = next.build();
      report.refused(3, "it has not answered yet");
      clock.pass(Duration.ofSeconds(15));
      report.answered(2, status.toBuilder().setUsage(usage(31 * GIB)).build());
      report.refused(
          3, "cannot connect to storage-c.datacentre.example.org:7420: Connection refused");
      report.ofGroup(
          ClusterStatus.newBuilder()
              .addServers(
                  ServerHealth.newBuilder()
                      .setEntry(ServerEntry.newBuilder().setId(1))
                      .setReplicas(8000))
              .addSlabs(SlabStatus.newBuilder().setState("open").setSlabs(12).setBytes(GIB / 8))
              .addSlabs(
                  SlabStatus.newBuilder().setState("closed").setSlabs(9004).setBytes(140 * GIB))
              .addSlabs(SlabStatus.newBuilder().setState("short").setSlabs(311).setBytes(4 * GIB))
              .setRepair(
                  RepairStatus.newBuilder()
                      .setSlabsWaiting(309)
                      .setSlabsCopiedNow(2)
                      .setBytesLeft(4 * GIB)
                      .setBytesPerSecond(100 << 20)
                      .setBytesPerSecondMax(128 << 20))
              .setFiles(FileHealth.newBuilder().setCorrupt(1).setMissing(47_110))
              .addWarnings("2 servers answer, and files of fs.tako.replication 3 have 2 copies.")
              .build());
    }

    @Override
    public ClusterMap map() {
      return map;
    }

    @Override
    public int serverId() {
      return 1;
    }

    @Override
    public ServerStatus status() {
      return status;
    }

    @Override
    public ClusterStatus cluster() {
      return report.build(status);
    }

    @Override
    public Reply query(String user, Request request) {
      return Reply.getDefaultInstance();
    }

    @Override
    public Optional<String> sickness() {
      return Optional.empty();
    }
  }

  private static void lookEverywhere(
      String name, FakeServer server, Runnable join, String... expected) throws Exception {
    Site site = new Site(server, SERVER, new TakoConfig(), Optional.empty(), server.clock);
    server.load(site);
    join.run();
    try (HttpEndpoint endpoint = HttpEndpoint.listen("127.0.0.1", 0, site)) {
      URI pages = URI.create(endpoint.url());
      for (int width : List.of(PageLook.NARROW, PageLook.WIDE)) {
        for (String page : List.of("", "clients", "config")) {
          PageLook.look(browser, pages.resolve("/" + page), name + "-" + page, width, false);
        }
        assertThat(
                PageLook.look(browser, pages.resolve("/cluster"), name + "-cluster", width, false))
            .contains(expected);
      }
      PageLook.look(browser, pages, name + "-", PageLook.WIDE, true);
      PageLook.look(browser, pages.resolve("/cluster"), name + "-cluster", PageLook.NARROW, true);
    }
  }

  @Test
  void shouldShowAnHourOfOneServer() throws Exception {
    FakeServer server = new FakeServer();
    lookEverywhere("one", server, () -> {}, SERVER.getHost(), "1 (this one)", "well");
  }

  @Test
  void shouldShowThreeServersOfWhichOneIsSilent() throws Exception {
    FakeServer server = new FakeServer();
    lookEverywhere(
        "three",
        server,
        server::joinThree,
        "Servers of storage",
        "<a href=\"http://storage-b.datacentre.example.org:7421/\">",
        "decommissioning",
        "silent for 00:00:15: cannot connect to storage-c",
        "100 MiB/s of at most 128 MiB/s, done in 00:00:41",
        "files of fs.tako.replication 3 have 2 copies");
  }
}
