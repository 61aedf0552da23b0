package io.takofs.bench.raw;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs the tools of perftest, both sides on one device.
 *
 * <p>Thread rule: one thread.
 */
final class Perftest {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final int PORT = 18515;
  private static final int LISTENING = 0x0a; // TCP_LISTEN, as /proc/net/tcp shows it
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  private final String host;
  private final List<String> device;

  /** For the device that {@code address} belongs to. */
  Perftest(InetAddress address) throws IOException {
    host = address.getHostAddress();
    device = find(address);
  }

  /** Options that name the device and, by its index in the port's table, the address. */
  private static List<String> find(InetAddress address) throws IOException {
    String wanted = "ffff" + HexFormat.of().formatHex(address.getAddress());
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(DEVICES)) {
      for (Path found : devices) {
        Path table = found.resolve("ports/1/gids");
        for (int i = 0; Files.exists(table.resolve("" + i)); i++) {
          String gid = Files.readString(table.resolve("" + i)).strip().replace(":", "");
          if (gid.endsWith(wanted)) {
            return List.of("-d", found.getFileName().toString(), "-x", "" + i);
          }
        }
      }
    }
    throw new IOException("no RDMA device has the address " + address.getHostAddress());
  }

  /**
   * Runs a tool; returns its figure: the median latency in microseconds or the average bandwidth in
   * MiB/s.
   */
  double run(List<String> tool, int iterations) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(tool);
    command.addAll(device);
    command.addAll(List.of("-F", "-n", "" + iterations, "-p", "" + PORT));
    Process server = start(command);
    try {
      awaitListener(server);
      List<String> client = new ArrayList<>(command);
      client.add(host);
      return figure(client, output(start(client)));
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private static Process start(List<String> command) throws IOException {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new IOException(command.get(0) + " cannot be run: install perftest", e);
    }
  }

  private static void awaitListener(Process server) throws IOException, InterruptedException {
    long end = System.nanoTime() + TIMEOUT_NS;
    while (!listens("/proc/net/tcp") && !listens("/proc/net/tcp6")) {
      if (!server.isAlive() || System.nanoTime() > end) {
        server.destroy();
        throw new IOException("perftest does not serve: " + output(server));
      }
      Thread.sleep(20);
    }
  }

  private static boolean listens(String table) throws IOException {
    String socket = String.format("^ *\\d+: [0-9A-F]+:%04X [0-9A-F:]+ %02X .*", PORT, LISTENING);
    return Files.readAllLines(Path.of(table)).stream().anyMatch(line -> line.matches(socket));
  }

  private static String output(Process process) throws IOException, InterruptedException {
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }

  /**
   * The last row of the table: bytes, iterations, then least, most and typical or peak, average.
   */
  private static double figure(List<String> command, String output) throws IOException {
    boolean latency = command.get(0).endsWith("_lat");
    return output
        .lines()
        .map(line -> line.strip().split("\\s+"))
        .filter(columns -> columns.length >= 5 && columns[0].matches("\\d+"))
        .mapToDouble(columns -> Double.parseDouble(columns[latency ? 4 : 3]))
        .reduce((earlier, later) -> later)
        .orElseThrow(() -> new IOException(String.join(" ", command) + " said: " + output));
  }
}
