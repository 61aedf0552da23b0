package io.takofs.cli;

import io.takofs.client.TakoClient;
import io.takofs.server.report.Sizes;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako bench}. */
@Command(
    name = "bench",
    description =
        "Measures metadata operations and throughput from this host, in a directory of its own that"
            + " it removes.")
final class BenchCommand implements Callable<Integer> {
  private static final long MIB = 1 << 20;

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(
      names = "--files",
      defaultValue = "2000",
      paramLabel = "N",
      description = "Files of the metadata part (default: ${DEFAULT-VALUE}).")
  private int files;

  @Option(
      names = "--size",
      defaultValue = "64",
      paramLabel = "MIB",
      description = "Size of the file of the throughput part, MiB (default: ${DEFAULT-VALUE}).")
  private int size;

  @Option(
      names = "--in",
      defaultValue = "/",
      paramLabel = "PATH",
      description = "Where its directory is made (default: ${DEFAULT-VALUE}).")
  private String parent;

  @Parameters(arity = "0..1", paramLabel = "URI", description = "tako://host:port")
  private String uri;

  @Override
  public Integer call() throws Exception {
    if (files < 1 || size < 1) {
      throw new IOException("--files and --size must be at least 1");
    }
    URI server = location.serverOf(uri);
    PrintWriter out = spec.commandLine().getOut();
    try (TakoClient client = location.client(server)) {
      out.println("server     " + server + " (" + client.transportVerdict() + ")");
      out.printf("measured   %d files, %s of data, one thread%n%n", files, Sizes.human(size * MIB));
      try (BenchDirectory directory = new BenchDirectory(client, ServerOptions.path(parent))) {
        new Bench(client, directory.path(), out).run(files, size * MIB);
      }
    }
    out.flush();
    return 0;
  }
}
