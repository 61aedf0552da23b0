package io.takofs.system;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A finished run of bin/tako.
 *
 * @param output of errors first, then of everything else
 */
record CommandLineRun(int code, String output) {
  /** Runs it without input, with these variables besides, and its output where {@code out} says. */
  static CommandLineRun of(
      ProcessBuilder.Redirect out, Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(ServerProcess.launcher()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("TAKO_URI");
    builder.environment().putAll(environment);
    Process process = builder.redirectOutput(out).start();
    process.getOutputStream().close();
    String said =
        new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8)
            + new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new CommandLineRun(process.waitFor(), said);
  }

  static CommandLineRun of(Map<String, String> environment, String... arguments) throws Exception {
    return of(ProcessBuilder.Redirect.PIPE, environment, arguments);
  }
}
