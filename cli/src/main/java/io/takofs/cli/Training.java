package io.takofs.cli;

import io.takofs.config.TakoConfig;
import io.takofs.server.RunningServer;
import java.io.IOException;

/**
 * Does what a server and commands do when they start, so that the JVM can archive the classes that
 * this takes; {@code bin/tako} runs it, with properties that say where the server's files go.
 */
final class Training {
  private Training() {}

  /**
   * Entry point; the exit code is 0 only when everything was done, but for the group: without its
   * classes an archive is still good.
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    TakoConfig config = new TakoConfig().addSystemProperties();
    int code = ServerCommand.ofSimple("server", "-Dkey=value").isPresent() ? 0 : 1;
    try (RunningServer server = RunningServer.start(config, System.getProperty("user.name"))) {
      String uri = server.uri().toString();
      code += Tako.execute("version");
      code += Tako.execute("status", uri);
      code += Tako.execute("fs", "-mkdir", uri + "/d");
      code += Tako.execute("fs", "-ls", uri + "/");
    }
    trainGroup(config);
    System.exit(code);
  }

  private static void trainGroup(TakoConfig config) throws InterruptedException {
    try {
      new GroupTraining(config).run();
    } catch (IOException | RuntimeException | Error e) {
      System.err.println("the archive lacks classes of servers that lead a group: " + e);
    }
  }
}
