package io.takofs.system;

import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * What happens to a cluster of which the first server has the namespace; when {@link #happen} is
 * over, all servers run again.
 *
 * <p>{@code tako.test.frozen} says how many seconds a process stands still.
 */
enum ClusterFailure {
  DATA_SERVER_KILLED {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      killAndRestart(dataServer(cluster, random));
    }
  },
  DATA_SERVER_LOST {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      cluster.lose(1 + random.nextInt(cluster.servers().size() - 1));
    }
  },
  NAMESPACE_SERVER_KILLED {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      killAndRestart(cluster.servers().get(0));
    }
  },
  DATA_SERVER_FROZEN {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      freeze(dataServer(cluster, random));
    }
  },
  NAMESPACE_SERVER_FROZEN {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      freeze(cluster.servers().get(0));
    }
  },
  SHM_CLIENT_FROZEN {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      freezeClient(cluster, "shm", random);
    }
  },
  TCP_CLIENT_FROZEN {
    @Override
    void happen(ServerCluster cluster, Random random) throws Exception {
      freezeClient(cluster, "tcp", random);
    }
  };

  private static final int FROZEN_S = Integer.getInteger("tako.test.frozen", 3);
  private static final String HOME = "/frozen";

  abstract void happen(ServerCluster cluster, Random random) throws Exception;

  private static ServerProcess dataServer(ServerCluster cluster, Random random) {
    return cluster.servers().get(1 + random.nextInt(cluster.servers().size() - 1));
  }

  private static void killAndRestart(ServerProcess server) throws Exception {
    server.kill();
    server.restart();
  }

  private static void freeze(ServerProcess server) throws Exception {
    server.signal("STOP");
    standStill();
    server.signal("CONT");
  }

  /**
   * A writer stands still in the middle of a file. Half of them go on with it. The others have lost
   * it when they wake: it was closed and deleted, and others have written in its place.
   */
  private static void freezeClient(ServerCluster cluster, String transport, Random random)
      throws Exception {
    try (WriterProcess writer =
            WriterProcess.start(
                cluster.uri(),
                transport,
                HOME,
                random.nextLong(),
                ClusterLoad.settings("fs.tako.replication", "3"));
        TakoClient client = ClusterLoad.connect(cluster.uri(), transport)) {
      writer.awaitAcknowledgements(3);
      FrozenWriter.freezeWhileWriting(writer, client, HOME);
      boolean loses = random.nextBoolean();
      if (loses) {
        for (PathStatus file : Clients.list(client, HOME)) {
          client.recoverLease(file.path());
        }
        WrittenFiles.check(client, HOME, writer.acknowledged());
        client.delete(HOME, true);
      }
      standStill();
      Signals.send(writer.pid(), "CONT");
      if (loses) {
        writer.awaitEnd();
        FrozenWriter.checkFailure(writer);
      } else {
        writer.awaitAcknowledgements(3);
        writer.kill();
        WrittenFiles.awaitClosed(client, HOME);
        WrittenFiles.check(client, HOME, writer.acknowledged());
        client.delete(HOME, true);
      }
    }
  }

  private static void standStill() throws Exception {
    long start = System.nanoTime();
    Poll.until(
        "it has stood still",
        Duration.ofSeconds(FROZEN_S + 60L),
        () -> System.nanoTime() - start > TimeUnit.SECONDS.toNanos(FROZEN_S));
  }
}
