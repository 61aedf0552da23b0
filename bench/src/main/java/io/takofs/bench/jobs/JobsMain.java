package io.takofs.bench.jobs;

import io.takofs.bench.hadoop.ApplicationRecords;
import io.takofs.bench.hadoop.YarnCluster;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the jobs on a file system, under LocalJobRunner or on YARN, and prints what each took. */
@Command(
    name = "jobs",
    mixinStandardHelpOptions = true,
    description =
        "TeraGen, TeraSort, TeraValidate, WordCount, TestDFSIO and DistCp, results checked.")
public final class JobsMain implements Callable<Integer> {
  @Option(
      names = "--fs",
      required = true,
      description = "The file system, for example tako://localhost:9820 or file:///")
  private String fileSystem;

  @Option(names = "--base", defaultValue = "/quickstart", description = "Directory to work in.")
  private String base;

  @Option(names = "--tera-mb", defaultValue = "1000", description = "TeraGen, in 10^6 bytes.")
  private long teraMegabytes;

  @Option(names = "--text-mb", defaultValue = "500", description = "WordCount, in 10^6 bytes.")
  private long textMegabytes;

  @Option(names = "--io-files", defaultValue = "4", description = "TestDFSIO: files.")
  private int ioFiles;

  @Option(names = "--io-mb", defaultValue = "256", description = "TestDFSIO: MiB a file.")
  private int ioMegabytes;

  @Option(names = "--yarn", description = "Run them on a YARN cluster of their own.")
  private boolean onYarn;

  @Option(
      names = "--hosts",
      split = ",",
      description =
          "With --yarn: the addresses of a cluster's data servers, all of this machine; each gets a"
              + " NodeManager, and it is checked that maps run where their data is.")
  private List<String> hosts = List.of();

  @Option(
      names = "--topology",
      defaultValue = "",
      description = "Hadoop's script that tells the rack of an address.")
  private String topology;

  @Option(names = "--work", required = true, description = "Local directory for spills and logs.")
  private String work;

  private record Result(String job, long bytes, double seconds) {}

  private final List<Result> results = new ArrayList<>();
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/quickstart}. */
  public static void main(String[] arguments) {
    // bin/quickstart --small names sizes before those of its caller.
    System.exit(
        new CommandLine(new JobsMain()).setOverwrittenOptionsAllowed(true).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Configuration conf = configuration();
    FileSystem fs = FileSystem.get(conf);
    Path directory = fs.makeQualified(new Path(base));
    fs.delete(directory, true);
    if (onYarn) {
      runOnYarn(directory);
    } else {
      run(conf, directory);
    }
    fs.delete(directory, true);
    print();
    return 0;
  }

  private void runOnYarn(Path directory) throws Exception {
    YarnCluster.Hosts nodes =
        hosts.isEmpty() ? YarnCluster.Hosts.ONE : new YarnCluster.Hosts(hosts, topology);
    out.printf(
        "==> YARN: ResourceManager, JobHistoryServer, NodeManagers at %s%n",
        String.join(", ", nodes.nodes()));
    try (YarnCluster yarn =
        new YarnCluster(java.nio.file.Path.of(work, "yarn"), directory, nodes)) {
      Configuration conf = yarn.configuration();
      run(conf, new Path(directory, "jobs"));
      int applications = records(yarn, conf);
      out.printf("==> history and logs of %d applications read back%n", applications);
      // Last, because a node that ends takes its logs along.
      if (!hosts.isEmpty()) {
        new MapLocality(yarn, new Path(directory, "locality"), hosts, out).check();
      }
    }
  }

  /** Reads back what YARN keeps of each application; a daemon's log says why one has none. */
  private static int records(YarnCluster yarn, Configuration conf) throws Exception {
    try {
      return new ApplicationRecords(conf).check();
    } catch (IOException e) {
      throw new IOException(e.getMessage() + "\nthe logs end with: " + yarn.logTails(), e);
    }
  }

  private void run(Configuration conf, Path directory) throws Exception {
    JobRunner jobs = new JobRunner(conf, directory);
    long tera = teraMegabytes * 1_000_000;
    long text = textMegabytes * 1_000_000;
    long io = ((long) ioFiles * ioMegabytes) << 20;
    String report = new java.io.File(work, "TestDFSIO.log").getPath();
    timed("TeraGen", tera, () -> jobs.teraGen(tera));
    timed("TeraSort", tera, jobs::teraSort);
    timed("TeraValidate", tera, jobs::teraValidate);
    Map<String, Long> expected = jobs.writeText(text);
    timed("WordCount", text, () -> jobs.wordCount(expected));
    timed("TestDFSIO write", io, () -> jobs.dfsio("write", ioFiles, ioMegabytes, report));
    timed("TestDFSIO read", io, () -> jobs.dfsio("read", ioFiles, ioMegabytes, report));
    timed(
        "DistCp, both ways",
        2 * io,
        () -> jobs.distCp(java.nio.file.Path.of(work), ioFiles, ioMegabytes));
  }

  private Configuration configuration() {
    Configuration conf = new Configuration();
    JobRunner.runLocally(conf, fileSystem, work);
    YarnCluster.bePatient(conf);
    return conf;
  }

  private interface Work {
    void run() throws Exception;
  }

  private void timed(String job, long bytes, Work work) throws Exception {
    out.printf(Locale.ROOT, "==> %s, %.0f MB%n", job, bytes / 1e6);
    long start = System.nanoTime();
    work.run();
    double seconds = (System.nanoTime() - start) / 1e9;
    results.add(new Result(job, bytes, seconds));
    out.printf(Locale.ROOT, "    done and checked in %.1f s%n", seconds);
  }

  private void print() {
    out.printf(Locale.ROOT, "%nOn %s, results checked:%n", fileSystem);
    out.printf(Locale.ROOT, "%-18s %10s %10s %10s%n", "job", "MB", "seconds", "MB/s");
    for (Result result : results) {
      out.printf(
          Locale.ROOT,
          "%-18s %10.0f %10.1f %10.0f%n",
          result.job,
          result.bytes / 1e6,
          result.seconds,
          result.bytes / 1e6 / result.seconds);
    }
  }
}
