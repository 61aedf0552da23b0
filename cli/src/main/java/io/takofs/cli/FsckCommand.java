package io.takofs.cli;

import io.takofs.client.TakoClient;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako fsck}. */
@Command(
    name = "fsck",
    description =
        "Reads every file at and below a path, verifying all checksums; fails when one is corrupt or"
            + " cannot be read.")
final class FsckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(
      names = {"-files", "--files"},
      description = "Names every file.")
  private boolean files;

  @Option(
      names = {"-openforwrite", "--openforwrite"},
      description = "Names files open for writing.")
  private boolean openForWrite;

  @Option(
      names = {"-locations", "--locations"},
      description =
          "Names every file, its replication, and the servers that have copies of its blocks.")
  private boolean locations;

  @Parameters(
      arity = "0..1",
      defaultValue = "/",
      paramLabel = "PATH",
      description = "File or directory to check (default: /).")
  private String path;

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (TakoClient client = location.client(location.server(path))) {
      Fsck fsck = new Fsck(client, out, files, openForWrite, locations);
      fsck.check(ServerOptions.path(path));
      fsck.printSummary();
      out.flush();
      return fsck.isHealthy() ? 0 : spec.exitCodeOnExecutionException();
    }
  }
}
