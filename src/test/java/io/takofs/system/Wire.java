package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.client.TakoClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The wire that joins this machine to another one, and nothing else does; {@code src/test/vm/wire}
 * makes both.
 *
 * <p>Thread rule: one thread.
 */
final class Wire {
  /** Address of the other machine. */
  static final String SERVER = System.getProperty("tako.test.wire.server");

  /** Transport of the clients. */
  static final String TRANSPORT = System.getProperty("tako.test.transport");

  /** Emulated machines that others keep busy are slow to answer the first time. */
  static final String[] PATIENCE = {
    "fs.tako.client.timeout", "2m", "fs.tako.client.connect.timeout", "60s"
  };

  /** Longer than it takes to notice, and shorter than a session lives without its client. */
  private static final Duration DISTURBANCE = Duration.ofSeconds(4);

  private static final String DIRECTORY = System.getProperty("tako.test.wire.directory");
  private static final String KERNEL_FAULTS =
      "dmesg --notime --level=emerg,alert,crit,err,warn"
          + " | grep -E 'rxe|rdma|infiniband|uverbs|refcount|WARNING|BUG|Oops|Call Trace' || :";
  private static final String LOSE = "tc qdisc add dev eth0 root netem loss ";
  private static final String LOSE_NO_MORE = "tc qdisc del dev eth0 root";

  private final RemoteShell shell;

  /** An event that befalls a machine, or the wire. */
  @FunctionalInterface
  interface Disturbance {
    void happen() throws Exception;
  }

  /** Skips the test when there is no wire. */
  Wire() {
    assumeTrue(DIRECTORY != null, "not run, src/test/vm/wire runs it");
    shell = new RemoteShell(Path.of(DIRECTORY));
  }

  /** The shell of the other machine. */
  RemoteShell shell() {
    return shell;
  }

  /** The complaints of the other machine's kernel. */
  String kernelFaults() throws Exception {
    return shell.run(KERNEL_FAULTS);
  }

  /** The objects that the other machine's RDMA device has. */
  String deviceObjects() throws Exception {
    return shell.run("rdma resource show");
  }

  /** Does something while the wire is cut, which takes 4 s at least. */
  void whileCut(Disturbance meanwhile) throws Exception {
    shell.run(LOSE + "100%");
    local(LOSE + "100%");
    try {
      pass();
      meanwhile.happen();
    } finally {
      shell.run(LOSE_NO_MORE);
      local(LOSE_NO_MORE);
    }
  }

  /** Does something while the other machine loses one packet of twenty that it sends. */
  void whileLossy(Disturbance meanwhile) throws Exception {
    whileLossy("5%", meanwhile);
  }

  /** Does something while it loses one of fifty, and the others leave 5 ms late. */
  void whileLateAndLossy(Disturbance meanwhile) throws Exception {
    whileLossy("2% delay 5ms", meanwhile);
  }

  private void whileLossy(String how, Disturbance meanwhile) throws Exception {
    shell.run(LOSE + how);
    String statistics;
    try {
      meanwhile.happen();
      statistics = shell.run("tc -s qdisc show dev eth0");
    } finally {
      shell.run(LOSE_NO_MORE);
    }
    assertThat(statistics).containsPattern("dropped [1-9]");
  }

  /** Takes the other machine's link down for 4 s. */
  void takeTheLinkDown() throws Exception {
    shell.run("ip link set eth0 down");
    pass();
    shell.run("ip link set eth0 up");
  }

  /** Waits for 4 s, in which others notice. */
  static void pass() throws Exception {
    long begin = System.nanoTime();
    Poll.until(
        DISTURBANCE + " have passed",
        DISTURBANCE.multipliedBy(2),
        () -> System.nanoTime() - begin > DISTURBANCE.toNanos());
  }

  /** Runs a command on this machine. */
  private static void local(String command) throws Exception {
    assertThat(new ProcessBuilder(command.split(" ")).inheritIO().start().waitFor()).isZero();
  }

  /** A writer in this process, which has written a little. */
  static WriterThread startWriter(URI server, String directory) throws Exception {
    WriterThread writer =
        WriterThread.start(server, TRANSPORT, directory, directory.hashCode(), PATIENCE);
    writer.awaitAcknowledgements(10);
    return writer;
  }

  /** A writer goes on after a disturbance; whoever reads its files then finds every byte. */
  static void checkThatAWriterGoesOn(
      TakoClient client, URI server, String directory, Disturbance disturbance) throws Exception {
    try (WriterThread writer = startWriter(server, directory)) {
      disturbance.happen();
      writer.readPending();
      long begin = System.nanoTime();
      writer.awaitAcknowledgements(1);
      print(directory, "went on", begin);
      writer.awaitAcknowledgements(10);
      finishAndCheck(client, writer, directory);
    }
  }

  /** Ends a writer and reads its files; afterwards nothing is left of them. */
  static void finishAndCheck(TakoClient client, WriterThread writer, String directory)
      throws Exception {
    writer.finish();
    assertThat(writer.failure()).as(writer.failureText()).isNull();
    checkFiles(client, writer, directory);
  }

  /** Reads a writer's files; afterwards nothing is left of them. */
  static void checkFiles(TakoClient client, Writer writer, String directory) throws Exception {
    WrittenFiles.awaitClosed(client, directory);
    WrittenFiles.check(client, directory, writer.acknowledged());
    Clients.checkNothingLeaks(client);
  }

  /** Says how long something took. */
  static void print(String directory, String what, long sinceNs) {
    System.out.printf(
        "%s over %s: %s after %d ms%n",
        directory, TRANSPORT, what, Duration.ofNanos(System.nanoTime() - sinceNs).toMillis());
  }
}
