package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * kill -9 of the server under load. Clients never see an error: their calls wait for the next
 * server, each operation happens exactly once, and every acknowledged byte is there.
 */
class ServerCrashTest {
  private static final String CLIENT_TIMEOUT = "fs.tako.client.timeout";
  private static final String CONNECT_TIMEOUT = "fs.tako.client.connect.timeout";
  private static final int KILLS = Integer.getInteger("tako.test.kills", 15);
  private static final int KILLS_OVER_VERBS = Integer.getInteger("tako.test.verbs.kills", 1);

  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void shouldLoseNothingAndShowNothingElseWhenKilledAtRandomMoments() throws Exception {
    killUnder(
        List.of("shm", "tcp", "shm", "tcp"), KILLS, new TakoConfig().set(CLIENT_TIMEOUT, "60s"));
  }

  /**
   * An attempt to connect that went to the server which is gone may take the whole minute, and an
   * emulated machine that others keep busy more than three minutes to start the server again.
   */
  @Test
  @Tag("verbs")
  @Tag("long")
  @Timeout(value = 25, unit = TimeUnit.MINUTES)
  void shouldCarryOnWhenAttemptsToConnectTakeLong() throws Exception {
    killUnder(
        List.of("verbs", "verbs"),
        KILLS_OVER_VERBS,
        new TakoConfig().set(CLIENT_TIMEOUT, "10m").set(CONNECT_TIMEOUT, "1m"));
  }

  /** A load for each transport named. */
  private static void killUnder(List<String> transports, int kills, TakoConfig config)
      throws Exception {
    long seed = Long.getLong("tako.test.seed", System.nanoTime());
    System.out.println("tako.test.seed=" + seed);
    Random random = new Random(seed);
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(transports.size());
    List<TakoClient> clients = new ArrayList<>();
    try (ServerProcess server =
        ServerProcess.start(
            "fs.tako.server.checkpoint.size", "1m", "fs.tako.server.pool.size", "256m")) {
      List<MixedLoad> loads = new ArrayList<>();
      List<Future<?>> running = new ArrayList<>();
      for (String transport : transports) {
        TakoClient client = client(server, transport, config);
        clients.add(client);
        MixedLoad load = new MixedLoad(client, "/load" + loads.size(), random.nextLong());
        loads.add(load);
        running.add(
            threads.submit(
                () -> {
                  while (!stop.get()) {
                    load.step();
                  }
                  return null;
                }));
      }
      for (int kill = 0; kill < kills; kill++) {
        ClusterLoad.letThemWork(loads, running, 10 + random.nextInt(60));
        server.kill();
        server.restart();
      }
      ClusterLoad.letThemWork(loads, running, 50);
      stop.set(true);
      for (Future<?> one : running) {
        one.get(10, TimeUnit.MINUTES);
      }
      for (String transport : Set.copyOf(transports)) {
        try (TakoClient reader = client(server, transport, config)) {
          for (MixedLoad load : loads) {
            load.verifyAll(reader);
          }
        }
      }
      assertThat(loads).allSatisfy(load -> assertThat(load.operations()).isGreaterThan(kills));
    } finally {
      stop.set(true);
      threads.shutdownNow();
      clients.forEach(TakoClient::close);
    }
  }

  private static TakoClient client(ServerProcess server, String transport, TakoConfig config)
      throws Exception {
    return TakoClient.connect(
        server.uri(),
        new TakoConfig(config).set("fs.tako.transport", transport),
        System.getProperty("user.name"));
  }
}
