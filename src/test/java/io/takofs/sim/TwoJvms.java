package io.takofs.sim;

import io.takofs.system.JavaProcess;
import java.io.IOException;
import java.util.List;

/**
 * Runs a simulation twice, in two JVMs whose objects have other identity hashes, whose immutable
 * sets have another order and which have another process id: a seed must say all of a run.
 */
public final class TwoJvms {
  private TwoJvms() {}

  /** The last lines that the two printed. */
  public static List<String> run(Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    Process one = start("5", main, arguments);
    Process other = start("0", main, arguments);
    return List.of(result(one), result(other));
  }

  /**
   * @param hashing how the JVM makes identity hashes: 0 by chance, 5 from its threads' states
   */
  private static Process start(String hashing, Class<?> main, String... arguments)
      throws IOException {
    List<String> options =
        List.of("-Xmx512m", "-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=" + hashing);
    return JavaProcess.start(options, main, List.of(arguments));
  }

  /** Logs may come before it. */
  private static String result(Process process) throws IOException, InterruptedException {
    List<String> lines = process.inputReader().lines().toList();
    if (process.waitFor() != 0 || lines.isEmpty()) {
      throw new AssertionError("the simulation failed: " + lines);
    }
    return lines.get(lines.size() - 1);
  }
}
