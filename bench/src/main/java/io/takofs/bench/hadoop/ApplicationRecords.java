package io.takofs.bench.hadoop;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.v2.jobhistory.JobHistoryUtils;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.LogAggregationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.cli.LogsCLI;
import org.apache.hadoop.yarn.webapp.util.WebServiceClient;

/**
 * Checks the records of each MapReduce job that ran on a {@link YarnCluster}: its history and the
 * logs of its containers, both read back from the file system.
 *
 * <p>Thread rule: one thread. An IOException names the missing record.
 */
public final class ApplicationRecords {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final Pattern CONTAINER = Pattern.compile("(?m)^Container: (container_\\w+)");
  private static final EnumSet<LogAggregationStatus> LOST_LOGS =
      EnumSet.of(LogAggregationStatus.FAILED, LogAggregationStatus.RUNNING_WITH_FAILURE);
  private static final Pattern MASTER_LOG = Pattern.compile("MRAppMaster: .*job_");

  private final Configuration conf;

  /**
   * @param conf a client's, of the cluster
   */
  public ApplicationRecords(Configuration conf) {
    this.conf = conf;
  }

  /** Checks those of every application of the cluster; returns how many there were. */
  public int check() throws Exception {
    List<ApplicationReport> applications;
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(conf);
      client.start();
      applications = client.getApplications();
      for (ApplicationReport application : applications) {
        awaitEnd(client, application.getApplicationId());
      }
    }
    Cluster cluster = new Cluster(conf);
    try {
      for (ApplicationReport application : applications) {
        ApplicationId id = application.getApplicationId();
        awaitLogs(id, checkHistory(cluster, TypeConverter.fromYarn(id)));
      }
    } finally {
      cluster.close();
    }
    return applications.size();
  }

  /**
   * Until it has ended well. Whether its logs are on the file system is asked there, for the
   * ResourceManager counts a node as one whose logs are missing, until a time-out of ten minutes,
   * on which a container was given to the application and given back before it started.
   */
  private static void awaitEnd(YarnClient client, ApplicationId id) throws Exception {
    long start = System.nanoTime();
    while (true) {
      ApplicationReport report = client.getApplicationReport(id);
      EnumSet<YarnApplicationState> ended =
          EnumSet.of(
              YarnApplicationState.FINISHED,
              YarnApplicationState.FAILED,
              YarnApplicationState.KILLED);
      if (ended.contains(report.getYarnApplicationState())) {
        check(
            id,
            report.getFinalApplicationStatus() == FinalApplicationStatus.SUCCEEDED,
            "it ended as " + report.getFinalApplicationStatus() + ": " + report.getDiagnostics());
        check(
            id,
            !LOST_LOGS.contains(report.getLogAggregationStatus()),
            "its logs are " + report.getLogAggregationStatus());
        return;
      }
      check(
          id,
          System.nanoTime() - start < TIMEOUT_NS,
          "it is still " + report.getYarnApplicationState());
      Thread.sleep(100);
    }
  }

  /**
   * Asks the history server, then reads the file; returns the containers of the masters and of the
   * tasks' attempts that succeeded.
   */
  private Set<String> checkHistory(Cluster cluster, JobID id) throws Exception {
    Job job = cluster.getJob(id);
    check(id, job != null && job.isSuccessful(), "the history server does not know its success");
    long launched =
        job.getCounters().findCounter(JobCounter.TOTAL_LAUNCHED_MAPS).getValue()
            + job.getCounters().findCounter(JobCounter.TOTAL_LAUNCHED_REDUCES).getValue();
    LocatedFileStatus file = awaitHistoryFile(id);
    JobHistoryParser.JobInfo info =
        new JobHistoryParser(file.getPath().getFileSystem(conf), file.getPath()).parse();
    check(id, info.getJobStatus().equals("SUCCEEDED"), "its history says " + info.getJobStatus());
    int tasks = info.getAllTasks().size();
    check(
        id,
        tasks > 0 && tasks <= launched,
        "its history has " + tasks + " tasks, the history server " + launched);
    return Stream.concat(
            info.getAMInfos().stream().map(JobHistoryParser.AMInfo::getContainerId),
            info.getAllTasks().values().stream()
                .filter(task -> task.getSuccessfulAttemptId() != null)
                .map(task -> task.getAllTaskAttempts().get(task.getSuccessfulAttemptId()))
                .map(JobHistoryParser.TaskAttemptInfo::getContainerId))
        .map(ContainerId::toString)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The history server moves it to its place every now and then. */
  private LocatedFileStatus awaitHistoryFile(JobID id) throws Exception {
    Path done = new Path(JobHistoryUtils.getConfiguredHistoryServerDoneDirPrefix(conf));
    FileSystem fs = done.getFileSystem(conf);
    long start = System.nanoTime();
    while (true) {
      RemoteIterator<LocatedFileStatus> files = fs.listFiles(done, true);
      while (files.hasNext()) {
        LocatedFileStatus file = files.next();
        String name = file.getPath().getName();
        if (name.startsWith(id + "-") && name.endsWith(".jhist")) {
          return file;
        }
      }
      check(id, System.nanoTime() - start < TIMEOUT_NS, "its history is not in " + done);
      Thread.sleep(100);
    }
  }

  /**
   * Until {@code yarn logs} prints the logs of all of {@code containers}, the master's among them.
   */
  private void awaitLogs(ApplicationId id, Set<String> containers) throws Exception {
    long start = System.nanoTime();
    while (true) {
      String logs = logs(id);
      Set<String> missing = new TreeSet<>(containers);
      CONTAINER.matcher(logs).results().forEach(found -> missing.remove(found.group(1)));
      if (missing.isEmpty()) {
        check(id, MASTER_LOG.matcher(logs).find(), "its logs do not have that of its master");
        return;
      }
      check(
          id,
          System.nanoTime() - start < TIMEOUT_NS,
          "yarn logs has nothing of " + missing + "; it ends with: " + end(logs));
      Thread.sleep(100);
    }
  }

  /** Runs {@code yarn logs} and returns all that it prints, on either stream. */
  private String logs(ApplicationId id) throws Exception {
    WebServiceClient.initialize(conf);
    PrintStream stdout = System.out;
    PrintStream stderr = System.err;
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(output, true, StandardCharsets.UTF_8);
    System.setOut(both);
    System.setErr(both);
    try {
      ToolRunner.run(conf, new LogsCLI(), new String[] {"-applicationId", id.toString()});
    } finally {
      System.setOut(stdout);
      System.setErr(stderr);
      WebServiceClient.destroy();
    }
    return output.toString(StandardCharsets.UTF_8);
  }

  private static String end(String text) {
    return text.substring(Math.max(0, text.length() - 500));
  }

  private static void check(Object id, boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(id + ": " + otherwise);
    }
  }
}
