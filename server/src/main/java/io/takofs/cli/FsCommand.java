package io.takofs.cli;

import io.takofs.client.ContentSummary;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.server.report.Modes;
import io.takofs.server.report.Sizes;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako fs}: files and directories from the command line. */
@Command(name = "fs", description = "Works with files and directories; needs no Hadoop.")
final class FsCommand implements Runnable {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm").withZone(ZoneId.systemDefault());

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which file command?");
  }

  @Command(description = "Lists directories and files.")
  int ls(
      @Mixin Location location,
      @Option(names = "-R", description = "What is below, too.") boolean recursive,
      @Option(names = "-h", description = "Sizes for people.") boolean human,
      @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text))) {
        PathStatus status = client.getStatus(Location.path(text));
        if (status.directory()) {
          list(client, status.path(), recursive, human);
        } else {
          print(status, human);
        }
      }
    }
    return 0;
  }

  @Command(description = "Makes directories.")
  int mkdir(
      @Mixin Location location,
      @Option(names = "-p", description = "Missing parents, too.") boolean parents,
      @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text))) {
        client.mkdirs(Location.path(text), 0755, parents);
      }
    }
    return 0;
  }

  @Command(description = "Copies a local file or directory to Tako; - is standard input.")
  int put(
      @Mixin Location location,
      @Option(names = "-f", description = "Replace what is there.") boolean force,
      @Parameters(index = "0", paramLabel = "LOCAL") String local,
      @Parameters(index = "1", paramLabel = "PATH") String target)
      throws IOException {
    try (TakoClient client = location.client(location.server(target))) {
      new Copy(client, force).put(local, Location.path(target));
    }
    return 0;
  }

  @Command(description = "Copies a file or directory of Tako to a local path.")
  int get(
      @Mixin Location location,
      @Option(names = "-f", description = "Replace what is there.") boolean force,
      @Parameters(index = "0", paramLabel = "PATH") String source,
      @Parameters(index = "1", paramLabel = "LOCAL") String local)
      throws IOException {
    try (TakoClient client = location.client(location.server(source))) {
      new Copy(client, force).get(Location.path(source), local);
    }
    return 0;
  }

  @Command(description = "Prints files.")
  int cat(
      @Mixin Location location, @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    // System.out would keep a failure to itself, and a full disk lose what follows.
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text));
          InputStream in = client.open(Location.path(text))) {
        in.transferTo(out);
      }
    }
    return 0;
  }

  @Command(description = "Renames a file or directory.")
  int mv(
      @Mixin Location location,
      @Option(names = "-f", description = "Replace a file or empty directory.") boolean force,
      @Parameters(index = "0", paramLabel = "SOURCE") String source,
      @Parameters(index = "1", paramLabel = "TARGET") String target)
      throws IOException {
    URI server = location.server(source);
    if (!server.equals(location.server(target))) {
      throw new IOException("mv works within one file system; use get and put");
    }
    try (TakoClient client = location.client(server)) {
      String from = Location.path(source);
      String to = Location.path(target);
      if (!force && isDirectory(client, to)) {
        to = (to.equals("/") ? "" : to) + from.substring(from.lastIndexOf('/'));
      }
      client.rename(from, to, force);
    }
    return 0;
  }

  @Command(description = "Deletes files and directories.")
  int rm(
      @Mixin Location location,
      @Option(names = "-r", description = "Directories with all that is in them.")
          boolean recursive,
      @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text))) {
        client.delete(Location.path(text), recursive);
      }
    }
    return 0;
  }

  @Command(description = "Sums up what is at and below a path.")
  int du(
      @Mixin Location location,
      @Option(names = "-h", description = "Sizes for people.") boolean human,
      @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text))) {
        ContentSummary sum = client.contentSummary(Location.path(text));
        out()
            .printf(
                "%-10s %8d files %8d directories  %s%n",
                size(sum.length(), human), sum.fileCount(), sum.directoryCount(), text);
      }
    }
    out().flush();
    return 0;
  }

  @Command(description = "Prints all that is known of a path.")
  int stat(
      @Mixin Location location, @Parameters(arity = "1..*", paramLabel = "PATH") List<String> paths)
      throws IOException {
    for (String text : paths) {
      try (TakoClient client = location.client(location.server(text))) {
        PathStatus status = client.getStatus(Location.path(text));
        out().println("path          " + status.path());
        out().println("type          " + (status.directory() ? "directory" : "file"));
        out().println("id            " + status.id());
        out().println("length        " + status.length());
        out().println("permission    " + Modes.text(status.directory(), status.permission()));
        out().println("owner, group  " + status.owner() + ", " + status.group());
        out().println("modified      " + Instant.ofEpochMilli(status.modificationTimeMs()));
        out().println("accessed      " + Instant.ofEpochMilli(status.accessTimeMs()));
        out().println("replication   " + status.replication());
        out().println("block size    " + status.blockSize());
        out().println("open          " + (status.underConstruction() ? "for writing" : "no"));
      }
    }
    out().flush();
    return 0;
  }

  private void list(TakoClient client, String path, boolean recursive, boolean human)
      throws IOException {
    DirectoryIterator entries = client.list(path);
    while (entries.hasNext()) {
      PathStatus entry = entries.next();
      print(entry, human);
      if (recursive && entry.directory()) {
        list(client, entry.path(), true, human);
      }
    }
  }

  private void print(PathStatus status, boolean human) {
    out()
        .printf(
            "%s %-10s %-10s %10s %s %s%n",
            Modes.text(status.directory(), status.permission()),
            status.owner(),
            status.group(),
            size(status.length(), human),
            TIME.format(Instant.ofEpochMilli(status.modificationTimeMs())),
            status.path());
    out().flush();
  }

  private static String size(long bytes, boolean human) {
    return human ? Sizes.human(bytes) : Long.toString(bytes);
  }

  private static boolean isDirectory(TakoClient client, String path) throws IOException {
    return Copy.find(client, path).map(PathStatus::directory).orElse(false);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
