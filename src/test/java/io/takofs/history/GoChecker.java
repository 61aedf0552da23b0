package io.takofs.history;

import io.takofs.system.ServerProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The checker of src/test/linearizability, which is written in Go. It is left out where there is no
 * Go on the PATH, or where its module cannot be had; with {@code TAKO_TEST_ALL} that is a failure.
 *
 * <p>Thread rule: any thread.
 */
public final class GoChecker {
  /** Of the first build, which compiles Go's library and gets a module; and of a check. */
  private static final long LIMIT_S = 120;

  private static Optional<GoChecker> built;

  private final Path program;

  private GoChecker(Path program) {
    this.program = program;
  }

  /**
   * What the program says.
   *
   * @param code 0 when all histories are linearizable, 1 when one is not, 2 for bad input, 3 when
   *     it took too long
   */
  public record Answer(int code, String output) {}

  /** The program, built once; empty, and a line in the log, when it is left out. */
  public static synchronized Optional<GoChecker> build() throws Exception {
    if (built == null) {
      built = buildNow();
    }
    return built;
  }

  private static Optional<GoChecker> buildNow() throws Exception {
    if (!isGoThere()) {
      return leftOut("the checker of histories in Go: there is no go on the PATH");
    }
    Path program = Files.createDirectories(Path.of("target/histories")).resolve("go-checker");
    Answer answer =
        run(directory(), List.of("go", "build", "-o", program.toAbsolutePath().toString(), "."));
    if (answer.code() == 0) {
      return Optional.of(new GoChecker(program.toAbsolutePath()));
    }
    return leftOut("the checker of histories in Go cannot be built: " + answer.output());
  }

  private static Optional<GoChecker> leftOut(String what) {
    if (System.getenv("TAKO_TEST_ALL") != null) {
      throw new AssertionError(what);
    }
    System.out.println("left out: " + what);
    return Optional.empty();
  }

  private static boolean isGoThere() {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, "go")));
  }

  /** Its sources, and histories to try it with. */
  public static Path directory() {
    return Path.of(ServerProcess.launcher()).getParent().resolveSibling("src/test/linearizability");
  }

  /** Checks histories, and takes no time to make smaller what is wrong. */
  public Answer check(List<Path> histories) throws Exception {
    return runWith(List.of("--shrink", "0s"), histories);
  }

  /** Checks a history and draws it, or what is wrong with it, to a file for a browser. */
  public Answer draw(Path history, Path html) throws Exception {
    return runWith(List.of("--html", html.toAbsolutePath().toString()), List.of(history));
  }

  private Answer runWith(List<String> options, List<Path> histories) throws Exception {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(options);
    histories.forEach(history -> command.add(history.toAbsolutePath().toString()));
    return run(directory(), command);
  }

  private static Answer run(Path directory, List<String> command) throws Exception {
    Path output = Files.createTempFile("go-checker", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        throw new IOException("not within " + LIMIT_S + " s: " + command);
      }
      return new Answer(process.exitValue(), Files.readString(output));
    } finally {
      Files.delete(output);
    }
  }
}
