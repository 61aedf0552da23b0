package io.takofs.system;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts Java programs of the tests in processes of their own. */
public final class JavaProcess {
  private JavaProcess() {}

  /**
   * Starts {@code main} with this process's class path. Its errors are this process's.
   *
   * @param options of the JVM, besides those of this one that the machine may need
   */
  public static Process start(List<String> options, Class<?> main, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("-XX:"))
        .forEach(command::add);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
