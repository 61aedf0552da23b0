package io.takofs.bench.compare;

import io.takofs.bench.jobs.JobRunner;
import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;

/** Hadoop's own jobs, run in this JVM, their results checked: a run is an operation. */
final class JobLines {
  private static final int IO_FILES = 4;

  private JobLines() {}

  /**
   * TestDFSIO of 4 x 256 MiB, TeraGen and TeraSort of 1 GB, WordCount of 500 MB.
   *
   * @param small of 20 MB each
   * @param scratch a missing directory for spills and logs
   */
  static List<Line> all(boolean small, Path scratch) {
    int ioMegabytes = small ? 5 : 256;
    long teraBytes = small ? 20_000_000 : 1_000_000_000;
    long textBytes = small ? 20_000_000 : 500_000_000;
    String ioLog = scratch.resolve("TestDFSIO.log").toString();
    Throughput ioWrite = jobs -> jobs.dfsio("write", IO_FILES, ioMegabytes, ioLog);
    Throughput ioRead = jobs -> jobs.dfsio("read", IO_FILES, ioMegabytes, ioLog);
    int ioTotal = IO_FILES * ioMegabytes;
    Work teraGen = jobs -> jobs.teraGen(teraBytes);
    AtomicReference<Map<String, Long>> words = new AtomicReference<>();
    return List.of(
        new IoTest("TestDFSIO write", ioTotal, scratch, jobs -> {}, ioWrite),
        new IoTest("TestDFSIO read", ioTotal, scratch, ioWrite::with, ioRead),
        new Job("TeraGen", scratch, jobs -> {}, teraGen, jobs -> {}),
        new Job("TeraSort", scratch, teraGen, JobRunner::teraSort, JobRunner::teraValidate),
        new Job(
            "WordCount",
            scratch,
            jobs -> words.set(jobs.writeText(textBytes)),
            jobs -> jobs.wordCount(words.get()),
            jobs -> {}));
  }

  private interface Work {
    void with(JobRunner jobs) throws Exception;
  }

  private interface Throughput {
    double with(JobRunner jobs) throws Exception;
  }

  /** Base of the lines: set-up, clean-up between rounds and at the end, with separate clients. */
  private abstract static class JobLine implements Line {
    private static final long FREED_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long FREED_BYTES = 4 << 20;

    private final String name;
    private final Path scratch;
    private final Work input;
    private final Work check;

    /**
     * @param input what makes the job's input
     * @param check what looks at the output
     */
    JobLine(String name, Path scratch, Work input, Work check) {
      this.name = name;
      this.scratch = scratch;
      this.input = input;
      this.check = check;
    }

    /** The timed part. */
    abstract void job(JobRunner jobs) throws Exception;

    @Override
    public String name() {
      return name;
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      candidate.fs().mkdirs(candidate.base());
      apart(candidate, input);
      // With each record Hadoop adds up the statistics of all threads that there are, and of those
      // that ended, by earlier jobs, until a collection: two candidates here have one scheme.
      System.gc();
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws Exception {
      apart(candidate, this::job);
    }

    @Override
    public void finish(BenchCandidate candidate, int round) throws Exception {
      apart(candidate, check);
      Line.super.finish(candidate, round);
      awaitFreed(candidate);
    }

    /**
     * Works with clients of the candidate's configuration. Hadoop keeps clients by user and address
     * only, and Tako's two transports have one address: so this user is of this work alone.
     */
    private void apart(BenchCandidate candidate, Work work) throws Exception {
      Configuration conf = new Configuration(candidate.fs().getConf());
      JobRunner.runLocally(conf, candidate.fs().getUri().toString(), scratch.toString());
      conf.setClass("fs.file.impl", PlainLocalFileSystem.class, FileSystem.class);
      // It asks for ten copies of its own accord.
      conf.setInt("mapreduce.terasort.output.replication", 1);
      UserGroupInformation user =
          UserGroupInformation.createRemoteUser(
              UserGroupInformation.getCurrentUser().getShortUserName());
      try {
        user.doAs(
            (PrivilegedExceptionAction<Void>)
                () -> {
                  work.with(new JobRunner(conf, candidate.fs().makeQualified(candidate.base())));
                  return null;
                });
      } finally {
        FileSystem.closeAllForUGI(user);
      }
    }

    /** HDFS deletes, and Tako reuses, what was freed only later: others need the memory. */
    private static void awaitFreed(BenchCandidate candidate) throws Exception {
      if (candidate.serverPids().isEmpty()) {
        return;
      }
      long start = System.nanoTime();
      while (candidate.fs().getStatus().getUsed() > FREED_BYTES) {
        if (System.nanoTime() - start > FREED_TIMEOUT_NS) {
          throw new IOException(
              candidate.name()
                  + " still uses "
                  + candidate.fs().getStatus().getUsed()
                  + " bytes, 30 s after everything was deleted");
        }
        Thread.sleep(100);
      }
    }
  }

  /** A job's wall time. */
  private static final class Job extends JobLine {
    private final Work job;

    Job(String name, Path scratch, Work input, Work job, Work check) {
      super(name, scratch, input, check);
      this.job = job;
    }

    @Override
    void job(JobRunner jobs) throws Exception {
      job.with(jobs);
    }

    @Override
    public Unit unit() {
      return Unit.SECONDS;
    }

    @Override
    public int batch() {
      return 1;
    }
  }

  /** TestDFSIO, and what it measures itself. */
  private static final class IoTest extends JobLine {
    private final int mebibytes;
    private final Throughput test;
    private double throughput;

    IoTest(String name, int mebibytes, Path scratch, Work input, Throughput test) {
      super(name, scratch, input, jobs -> {});
      this.mebibytes = mebibytes;
      this.test = test;
    }

    @Override
    void job(JobRunner jobs) throws Exception {
      throughput = test.with(jobs);
    }

    @Override
    public Unit unit() {
      return Unit.MEBIBYTES_PER_SECOND;
    }

    @Override
    public int batch() {
      return mebibytes;
    }

    @Override
    public long counted(long elapsed) {
      return (long) (mebibytes * 1e9 / throughput);
    }
  }
}
