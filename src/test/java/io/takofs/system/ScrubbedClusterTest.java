package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three servers verify what they keep: a wrong copy is found and replaced though nobody reads. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ScrubbedClusterTest {
  private static final int SERVERS = 3;
  private static final int LENGTH = 3_000_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(300); // pools are read

  private final List<byte[]> contents = new ArrayList<>(); // of /f0, /f1, ...

  @Test
  void shouldReplaceWrongCopiesThatNobodyReads() throws Exception {
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS,
                "fs.tako.server.pool.size",
                "192m",
                "fs.tako.server.quarantine",
                "200ms",
                "fs.tako.replication.min",
                "3",
                "fs.tako.scrub.period",
                "1s",
                "fs.tako.scrub.bandwidth",
                "0",
                "fs.tako.group.members",
                "1"); // all other servers are away in the end
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      for (int i = 0; i < SERVERS; i++) {
        write(client, "/f" + i);
      }
      for (int wrong = 0; wrong < SERVERS; wrong++) {
        spoilAUnit(cluster, cluster.servers().get(wrong), contents.get(wrong));
        awaitFound(client, wrong + 1);
        awaitRight(cluster, contents.get(wrong));
      }
      assertThat(CommandLineRun.of(Map.of("TAKO_URI", cluster.uri().toString()), "status").output())
          .containsPattern("scrub        [1-9]\\d* wrong copies in ");
      assertThat(metrics(client)).containsPattern("\ntako_wrong_copies_total [1-9]");
      readFromEachReplicaAlone(cluster, client);
      Clients.checkNothingLeaks(client);
    }
  }

  private void write(TakoClient client, String path) throws IOException {
    byte[] content = new byte[LENGTH];
    Pattern.fill(path, 0, content, LENGTH);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    contents.add(content);
  }

  /** Where copies were replaced, the bytes of former ones may still be in memory. */
  private static void spoilAUnit(ServerCluster cluster, ServerProcess server, byte[] content)
      throws IOException {
    List<StoredUnits.Place> places =
        StoredUnits.find(cluster, content).get(LENGTH / 2 / Layout.UNIT_SIZE);
    places.removeIf(place -> place.server() != server);
    assertThat(places).isNotEmpty();
    for (StoredUnits.Place place : places) {
      place.flipABit();
    }
  }

  private static void awaitFound(TakoClient client, long wrong) throws Exception {
    Poll.until(
        wrong + " wrong copies were found",
        LIMIT,
        () -> client.administration().clusterStatus().getRepair().getWrongCopies() >= wrong);
  }

  private static void awaitRight(ServerCluster cluster, byte[] content) throws Exception {
    Poll.until(
        "every server has a right copy",
        LIMIT,
        INTERVAL_NS,
        () -> StoredUnits.areAt(cluster, content, SERVERS));
  }

  private static String metrics(TakoClient client) throws Exception {
    URI pages = URI.create(client.serverStatus().getHttp());
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(pages.resolve("/metrics")).build(), BodyHandlers.ofString())
        .body();
  }

  /**
   * Everything that two of the servers have of a file becomes wrong, so the third must be right.
   */
  private void readFromEachReplicaAlone(ServerCluster cluster, TakoClient client) throws Exception {
    for (int left = 0; left < SERVERS; left++) {
      byte[] content = contents.get(left);
      for (List<StoredUnits.Place> places : StoredUnits.find(cluster, content)) {
        for (StoredUnits.Place place : places) {
          if (place.server() != cluster.servers().get(left)) {
            place.flipABit();
          }
        }
      }
      assertThat(Clients.read(client, "/f" + left)).isEqualTo(content);
      awaitRight(cluster, content);
    }
  }
}
