package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.client.TakoClient;
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
  /** Within which a server gives up what cannot be reached; emulated machines are slow. */
  private static final Duration NOTICED = Duration.ofSeconds(12);

  private static final String QUEUE_PAIRS =
      "rdma resource show qp | grep -o 'lqpn.*type RC state RTS' || :";

  private static Wire wire;
  private static RemoteServer server;
  private static String devicesBefore;
  private static String faultsBefore;

  private String directory;
  private TakoClient client;

  @BeforeAll
  static void startServer() throws Exception {
    wire = new Wire();
    server =
        new RemoteServer(
            wire.shell(),
            Wire.SERVER,
            7420,
            "fs.tako.server.session.ttl",
            "16s",
            "fs.tako.server.lease.soft",
            "5s",
            "fs.tako.server.lease.hard",
            "18s",
            "fs.tako.server.quarantine",
            "200ms",
            "fs.tako.server.pool.size",
            "256m",
            "fs.tako.server.pool.pages.size",
            "32m",
            "fs.tako.server.pool.log.size",
            "64m");
    devicesBefore = wire.deviceObjects();
    faultsBefore = wire.kernelFaults();
    server.start();
  }

  /** The server has lived through all scenarios, and leaves nothing behind. */
  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.terminate();
      assertThat(wire.deviceObjects()).isEqualTo(devicesBefore);
      assertThat(wire.kernelFaults()).isEqualTo(faultsBefore);
    }
  }

  @BeforeEach
  void connect(TestInfo test) throws Exception {
    directory = "/" + test.getTestMethod().orElseThrow().getName();
    client = Clients.connect(server.uri(), Wire.TRANSPORT, Wire.PATIENCE);
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
          Wire.pass();
          server.signal("CONT");
        });
  }

  @Test
  void shouldGoOnAfterTheLinkWasDown() throws Exception {
    assumeTrue(Wire.TRANSPORT.equals("tcp"), "verbs is lost then");
    checkThatTheWriterGoesOn(wire::takeTheLinkDown);
  }

  /**
   * When the link goes down under a connection, the connection manager over soft-RoCE of Linux 6.1
   * sends nothing afterwards, for any program: verbs is lost, and a writer goes on in the middle of
   * its file over tcp.
   */
  @Test
  void shouldGoOnOverTcpWhenVerbsIsLostWithTheLink() throws Exception {
    assumeTrue(Wire.TRANSPORT.equals("auto"), "there is nothing else to go on over");
    assertThat(client.transportVerdict()).startsWith("verbs");
    checkThatTheWriterGoesOn(wire::takeTheLinkDown);
    assertThat(client.transportVerdict()).startsWith("tcp").contains("verbs failed");
  }

  @Test
  void shouldGoOnAfterTheWireWasCut() throws Exception {
    checkThatTheWriterGoesOn(() -> wire.whileCut(this::awaitGivenUp));
  }

  @Test
  void shouldKeepItsConnectionsWhenPacketsAreLost() throws Exception {
    try (WriterThread writer = Wire.startWriter(server.uri(), directory)) {
      String before = server.run(QUEUE_PAIRS);
      wire.whileLossy(
          () -> {
            writer.readPending();
            writer.awaitAcknowledgements(30);
          });
      if (Wire.TRANSPORT.equals("verbs")) {
        // Of two: soft-RoCE now and then stands still on the one with windows, which ends it.
        assertThat(server.run(QUEUE_PAIRS).lines()).containsAnyElementsOf(before.lines().toList());
      }
      Wire.finishAndCheck(client, writer, directory);
    }
  }

  @Test
  void shouldRecoverTheFilesOfAClientThatIsKilled() throws Exception {
    try (WriterProcess writer = startProcess()) {
      writer.kill();
      Wire.checkFiles(client, writer, directory);
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

  private WriterProcess startProcess() throws Exception {
    WriterProcess writer =
        WriterProcess.start(
            server.uri(), Wire.TRANSPORT, directory, directory.hashCode(), Wire.PATIENCE);
    writer.awaitAcknowledgements(10);
    return writer;
  }

  private void checkThatTheWriterGoesOn(Wire.Disturbance disturbance) throws Exception {
    Wire.checkThatAWriterGoesOn(client, server.uri(), directory, disturbance);
  }

  /** Over tcp the server's kernel goes on to send what it has. */
  private void awaitGivenUp() throws Exception {
    if (Wire.TRANSPORT.equals("verbs")) {
      long begin = System.nanoTime();
      Poll.until("the server has given its connections up", NOTICED, WireTest::isAlone);
      Wire.print(directory, "beyond the first 4 s, its connections were given up", begin);
    }
  }

  private static boolean isAlone() throws Exception {
    return server.run(QUEUE_PAIRS).isBlank();
  }
}
