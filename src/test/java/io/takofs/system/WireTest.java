package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.client.TakoClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * Server and client on two machines that only a wire joins, and what happens to either or to the
 * wire in the middle of large writes. {@code src/test/vm/wire} runs it.
 */
@Tag("wire")
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WireTest {
  private static final String DIRECTORY = System.getProperty("tako.test.wire.directory");
  private static final String SERVER = System.getProperty("tako.test.wire.server");
  private static final String TRANSPORT = System.getProperty("tako.test.transport");

  /** Longer than it takes to notice, and shorter than a session lives without its client. */
  private static final Duration DISTURBANCE = Duration.ofSeconds(4);

  /** Within which a server gives up what cannot be reached; emulated machines are slow. */
  private static final Duration NOTICED = Duration.ofSeconds(12);

  private static final String KERNEL_FAULTS =
      "dmesg --notime --level=emerg,alert,crit,err,warn"
          + " | grep -E 'rxe|rdma|infiniband|uverbs|refcount|WARNING|BUG|Oops|Call Trace' || :";
  private static final String LOSE = "tc qdisc add dev eth0 root netem loss ";
  private static final String LOSE_NO_MORE = "tc qdisc del dev eth0 root";
  private static final String QUEUE_PAIRS =
      "rdma resource show qp | grep -o 'lqpn.*type RC state RTS' || :";

  private static RemoteServer server;
  private static String devicesBefore;
  private static String faultsBefore;

  /** Emulated machines that others keep busy are slow to answer the first time. */
  private static final String[] SETTINGS = {
    "fs.tako.client.timeout", "2m", "fs.tako.client.connect.timeout", "60s"
  };

  private String directory;
  private TakoClient client;

  /** A disturbance while a writer writes. */
  @FunctionalInterface
  private interface Disturbance {
    void happen() throws Exception;
  }

  @BeforeAll
  static void startServer() throws Exception {
    assumeTrue(DIRECTORY != null, "not run, src/test/vm/wire runs it");
    server =
        new RemoteServer(
            Path.of(DIRECTORY),
            SERVER,
            "fs.tako.server.session.ttl",
            "16s",
            "fs.tako.server.lease.soft",
            "5s",
            "fs.tako.server.lease.hard",
            "18s",
            "fs.tako.server.quarantine",
            "200ms",
            "fs.tako.server.pool.size",
            "128m",
            "fs.tako.server.pool.pages.size",
            "32m",
            "fs.tako.server.pool.log.size",
            "64m");
    devicesBefore = server.run("rdma resource show");
    faultsBefore = server.run(KERNEL_FAULTS);
    server.start();
  }

  /** The server has lived through all scenarios, and leaves nothing behind. */
  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.terminate();
      assertThat(server.run("rdma resource show")).isEqualTo(devicesBefore);
      assertThat(server.run(KERNEL_FAULTS)).isEqualTo(faultsBefore);
    }
  }

  @BeforeEach
  void connect(TestInfo test) throws Exception {
    directory = "/" + test.getTestMethod().orElseThrow().getName();
    client = Clients.connect(server.uri(), TRANSPORT, SETTINGS);
  }

  @AfterEach
  void disconnect() {
    client.close();
  }

  @Test
  void shouldGoOnAfterTheServerIsKilledAndStartedAgain() throws Exception {
    checkThatTheWriterGoesOn(
        () -> {
          server.kill();
          server.start();
        });
  }

  @Test
  void shouldGoOnAfterTheServerStoodStill() throws Exception {
    checkThatTheWriterGoesOn(
        () -> {
          server.signal("STOP");
          pass(DISTURBANCE);
          server.signal("CONT");
        });
  }

  @Test
  void shouldGoOnAfterTheLinkWasDown() throws Exception {
    assumeTrue(TRANSPORT.equals("tcp"), "verbs is lost then");
    checkThatTheWriterGoesOn(WireTest::takeTheLinkDown);
  }

  /**
   * When the link goes down under a connection, the connection manager over soft-RoCE of Linux 6.1
   * sends nothing afterwards, for any program: verbs is lost, and a writer goes on in the middle of
   * its file over tcp.
   */
  @Test
  void shouldGoOnOverTcpWhenVerbsIsLostWithTheLink() throws Exception {
    assumeTrue(TRANSPORT.equals("auto"), "there is nothing else to go on over");
    assertThat(client.transportVerdict()).startsWith("verbs");
    checkThatTheWriterGoesOn(WireTest::takeTheLinkDown);
    assertThat(client.transportVerdict()).startsWith("tcp").contains("verbs failed");
  }

  @Test
  void shouldGoOnAfterTheWireWasCut() throws Exception {
    checkThatTheWriterGoesOn(
        () -> {
          long begin = System.nanoTime();
          server.run(LOSE + "100%");
          local(LOSE + "100%");
          try {
            pass(DISTURBANCE);
            if (TRANSPORT.equals("verbs")) {
              Poll.until("the server has given its connections up", NOTICED, WireTest::isAlone);
              print("its connections were given up", begin);
            }
          } finally {
            server.run(LOSE_NO_MORE);
            local(LOSE_NO_MORE);
          }
        });
  }

  @Test
  void shouldKeepItsConnectionsWhenPacketsAreLost() throws Exception {
    try (WriterThread writer = startThread()) {
      String before = server.run(QUEUE_PAIRS);
      server.run(LOSE + "5%");
      String statistics;
      try {
        writer.readPending();
        writer.awaitAcknowledgements(30);
        statistics = server.run("tc -s qdisc show dev eth0");
      } finally {
        server.run(LOSE_NO_MORE);
      }
      assertThat(statistics).containsPattern("dropped [1-9]");
      if (TRANSPORT.equals("verbs")) {
        // Of two: soft-RoCE now and then stands still on the one with windows, which ends it.
        assertThat(server.run(QUEUE_PAIRS).lines()).containsAnyElementsOf(before.lines().toList());
      }
      finishAndCheck(writer);
    }
  }

  @Test
  void shouldRecoverTheFilesOfAClientThatIsKilled() throws Exception {
    try (WriterProcess writer = startProcess()) {
      writer.kill();
      checkFiles(writer);
    }
  }

  @Test
  void shouldKeepCommittedBytesWhenAClientThatStoodStillForTooLongGoesOn() throws Exception {
    try (WriterProcess writer = startProcess()) {
      FrozenWriter.freezeWhileWriting(writer, client, directory);
      FrozenWriter.checkThatNothingIsDamagedWhenItWakes(writer, client, directory, "/others");
      Clients.checkNothingLeaks(client);
    }
  }

  private static void takeTheLinkDown() throws Exception {
    server.run("ip link set eth0 down");
    pass(DISTURBANCE);
    server.run("ip link set eth0 up");
  }

  private WriterThread startThread() throws Exception {
    WriterThread writer =
        WriterThread.start(server.uri(), TRANSPORT, directory, directory.hashCode(), SETTINGS);
    writer.awaitAcknowledgements(10);
    return writer;
  }

  private WriterProcess startProcess() throws Exception {
    WriterProcess writer =
        WriterProcess.start(server.uri(), TRANSPORT, directory, directory.hashCode(), SETTINGS);
    writer.awaitAcknowledgements(10);
    return writer;
  }

  private void checkThatTheWriterGoesOn(Disturbance disturbance) throws Exception {
    try (WriterThread writer = startThread()) {
      disturbance.happen();
      writer.readPending();
      long begin = System.nanoTime();
      writer.awaitAcknowledgements(1);
      print("went on", begin);
      writer.awaitAcknowledgements(10);
      finishAndCheck(writer);
    }
  }

  private void finishAndCheck(WriterThread writer) throws Exception {
    writer.finish();
    assertThat(writer.failure()).as(writer.failureText()).isNull();
    checkFiles(writer);
  }

  private void checkFiles(Writer writer) throws Exception {
    WrittenFiles.awaitClosed(client, directory);
    WrittenFiles.check(client, directory, writer.acknowledged());
    Clients.checkNothingLeaks(client);
  }

  /** Runs a command on this machine. */
  private static void local(String command) throws Exception {
    assertThat(new ProcessBuilder(command.split(" ")).inheritIO().start().waitFor()).isZero();
  }

  private static boolean isAlone() throws Exception {
    return server.run(QUEUE_PAIRS).isBlank();
  }

  private void print(String what, long sinceNs) {
    System.out.printf(
        "%s over %s: %s after %d ms%n",
        directory, TRANSPORT, what, Duration.ofNanos(System.nanoTime() - sinceNs).toMillis());
  }

  private static void pass(Duration duration) throws Exception {
    long begin = System.nanoTime();
    Poll.until(
        duration + " have passed",
        duration.multipliedBy(2),
        () -> System.nanoTime() - begin > duration.toNanos());
  }
}
