package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import io.takofs.history.GoChecker;
import io.takofs.history.HistoryCheck;
import io.takofs.history.HistoryOperation;
import io.takofs.history.HistoryReader;
import io.takofs.history.HistoryRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What clients of a cluster are told, while the server that leads the namespace is killed again and
 * again, is what they would be told by one namespace that does one call after the other: whatever
 * was acknowledged has happened once, whatever was refused has not, and nobody sees an older state
 * after a newer one. All bytes are compared.
 *
 * <p>{@code tako.test.leader.kills} says how often it is killed. The history is kept in
 * target/histories; src/test/linearizability checks it, too, and draws it.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class LinearizabilityTest {
  private static final int KILLS = Integer.getInteger("tako.test.leader.kills", 3);
  private static final int SERVERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(4);

  /** Of clients that wait for a server that starts. */
  private static final List<String> PATIENT = List.of("shm", "tcp", "shm", "tcp");

  /** Of clients that do not, and often do not know what has become of their calls. */
  private static final List<String> IMPATIENT = List.of("shm", "tcp");

  private static final String IMPATIENT_LIMIT = "700ms";

  /** Before each kill, and after it. */
  private static final int OPERATIONS = 400;

  /** Just before each kill. */
  private static final int HURRIED = 100;

  private final long seed = Long.getLong("tako.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<TakoClient> clients = new ArrayList<>();

  @Test
  void shouldLookLikeOneNamespaceWhileItsServerIsKilled() throws Exception {
    System.out.println("tako.test.seed=" + seed);
    Path file =
        Files.createDirectories(Path.of("target/histories")).resolve("killed-leaders.jsonl");
    try (ServerCluster cluster =
        ServerCluster.start(
            SERVERS, "fs.tako.server.quarantine", "1s", "fs.tako.server.pool.size", "256m")) {
      try (HistoryRecorder recorder = new HistoryRecorder(file)) {
        record(cluster, recorder);
      } catch (Exception | AssertionError e) {
        for (ServerProcess server : cluster.servers()) {
          System.out.println(server.lastWords());
        }
        throw e;
      } finally {
        clients.forEach(TakoClient::close);
      }
    }
    check(file);
  }

  private void record(ServerCluster cluster, HistoryRecorder recorder) throws Exception {
    List<TakoClient> working = new ArrayList<>();
    for (String transport : PATIENT) {
      working.add(connect(cluster, transport, ClusterLoad.settings()));
    }
    for (String transport : IMPATIENT) {
      working.add(
          connect(
              cluster,
              transport,
              "fs.tako.client.timeout",
              IMPATIENT_LIMIT,
              "fs.tako.client.connect.timeout",
              IMPATIENT_LIMIT));
    }
    TakoClient watcher = connect(cluster, "tcp", ClusterLoad.settings());
    ClusterHealth.awaitServers(watcher, SERVERS, LIMIT);
    try (RecordedLoad load = new RecordedLoad(working, recorder, random, "", Duration.ZERO)) {
      for (int kill = 0; kill < KILLS; kill++) {
        if (kill > 0) {
          load.useNewPaths();
        }
        load.letThemWork(OPERATIONS, LIMIT);
        ServerProcess leader = ClusterHealth.awaitLeader(watcher, cluster, LIMIT);
        load.hurry(true); // so that all of them wait for an answer when it dies
        load.letThemWork(HURRIED, LIMIT);
        leader.kill();
        load.hurry(false);
        leader.restart();
        load.letThemWork(OPERATIONS, LIMIT);
      }
      load.stop();
      ClusterHealth.awaitServers(watcher, SERVERS, LIMIT);
      readAll(cluster, recorder, load.paths());
    }
  }

  /** What is there at the end is part of the history: each transport sees it, byte by byte. */
  private void readAll(ServerCluster cluster, HistoryRecorder recorder, List<String> paths)
      throws Exception {
    for (String transport : List.of("shm", "tcp")) {
      TakoClient client = connect(cluster, transport, ClusterLoad.settings());
      RecordedCalls reader = new RecordedCalls(client, recorder, clients.size(), Duration.ZERO);
      for (String path : paths) {
        reader.read(path);
        reader.stat(path);
      }
    }
  }

  private TakoClient connect(ServerCluster cluster, String transport, String... settings)
      throws IOException {
    TakoClient client = ClusterClients.connect(cluster, transport, settings);
    clients.add(client);
    return client;
  }

  private void check(Path file) throws Exception {
    List<HistoryOperation> history = HistoryReader.read(file);
    Optional<GoChecker> go = GoChecker.build();
    Path html = file.resolveSibling("killed-leaders.html");
    String answer = "";
    int code = 0;
    if (go.isPresent()) {
      GoChecker.Answer said = go.get().draw(file, html);
      code = said.code();
      answer = said.output() + html.toAbsolutePath() + " is the drawing";
    }
    try {
      HistoryCheck.check(history);
    } catch (AssertionError e) {
      throw new AssertionError(file.toAbsolutePath() + " is " + e.getMessage() + "\n" + answer, e);
    }
    assertThat(code).as(answer).isZero();
    System.out.printf(
        "%d operations, the outcome of %d is unknown; %s%n",
        history.size(), history.stream().filter(operation -> !operation.isEnded()).count(), answer);
    assertThat(history.size()).isGreaterThan(2 * KILLS * OPERATIONS);
  }
}
