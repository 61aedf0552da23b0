package io.takofs.bench.clusters;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileUtil;

/**
 * Data servers that {@code tako dev} runs in a temporary directory. They are stopped and their
 * pools removed at {@link #close} and whenever this JVM ends, by a signal too.
 *
 * <p>Thread rule: one thread.
 */
final class DevCluster implements AutoCloseable {
  private final Path tako;
  private final String servers;
  private final String poolSize;
  private final Path directory;
  private final Thread ender = new Thread(this::end);

  /**
   * Starts it.
   *
   * @param tako the program {@code bin/tako}
   * @param servers how many
   * @param poolSize of each, with a unit, such as {@code 256m}
   * @param settings of all of them, by their keys
   * @throws IOException when it cannot, with the output of {@code tako dev}
   */
  DevCluster(Path tako, int servers, String poolSize, Map<String, String> settings)
      throws IOException, InterruptedException {
    this.tako = tako;
    this.servers = Integer.toString(servers);
    this.poolSize = poolSize;
    directory = Files.createTempDirectory("tako-bench-");
    Runtime.getRuntime().addShutdownHook(ender);
    try {
      Files.writeString(site(), xml(settings));
      startAgain();
    } catch (IOException | InterruptedException e) {
      close();
      throw e;
    }
  }

  /**
   * Starts the servers that do not run, with their pools.
   *
   * @throws IOException when it cannot, with the output of {@code tako dev}
   */
  void startAgain() throws IOException, InterruptedException {
    run("dev", "--servers", servers, "--pool-size", poolSize);
  }

  /** The URI at which clients reach it. */
  URI uri() throws IOException {
    return URI.create(Files.readString(state().resolve("uri")).strip());
  }

  /** The process of a server, by its number from 1; the first has the namespace. */
  ProcessHandle server(int number) throws IOException {
    Path server = number == 1 ? state() : state().resolve("server-" + number);
    long pid = Long.parseLong(Files.readString(server.resolve("pid")).strip());
    return ProcessHandle.of(pid)
        .orElseThrow(() -> new IOException("server " + number + " does not run"));
  }

  @Override
  public void close() throws IOException {
    end();
    Runtime.getRuntime().removeShutdownHook(ender);
  }

  private void end() {
    try {
      run("dev", "stop");
      if (!FileUtil.fullyDelete(directory.toFile())) {
        System.err.println("cannot remove " + directory);
      }
    } catch (IOException e) {
      System.err.println("the servers of " + directory + " may still run: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Path state() {
    return directory.resolve("dev");
  }

  private Path site() {
    return directory.resolve("tako-site.xml");
  }

  private void run(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(tako.toString()));
    command.addAll(List.of(words));
    command.addAll(List.of("--dir", state().toString()));
    Path log = directory.resolve("tako.log");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("TAKO_CONF", site().toString());
    Process process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " said: " + Files.readString(log).strip());
    }
  }

  private static String xml(Map<String, String> settings) {
    return settings.entrySet().stream()
        .map(
            setting ->
                "<property><name>%s</name><value>%s</value></property>%n"
                    .formatted(setting.getKey(), setting.getValue()))
        .collect(Collectors.joining("", "<configuration>\n", "</configuration>\n"));
  }
}
