package io.takofs.bench.jobs;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.examples.terasort.TeraChecksum;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.TestDFSIO;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.tools.DistCp;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs the jobs on the configuration's default file system and checks what they wrote.
 *
 * <p>Thread rule: one thread. Every method throws an IOException that names the job when its result
 * is wrong.
 */
public final class JobRunner {
  private static final int TERA_ROW_BYTES = 100;
  private static final String DFSIO_RESULT = "Throughput mb/sec:";

  private final Configuration conf;
  private final FileSystem fs;
  private final Path base;

  /**
   * @param conf of the jobs
   * @param base a directory to work in, of the file system that the jobs use
   */
  public JobRunner(Configuration conf, Path base) throws IOException {
    this.conf = conf;
    this.fs = base.getFileSystem(conf);
    this.base = base;
  }

  /**
   * Makes {@code conf} one for jobs in this JVM.
   *
   * @param fileSystem the default one
   * @param work local directory for spills
   */
  public static void runLocally(Configuration conf, String fileSystem, String work) {
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY, fileSystem);
    conf.set("mapreduce.framework.name", "local");
    conf.set("hadoop.tmp.dir", work);
    conf.set("mapreduce.local.map.tasks.maximum", "2");
    conf.set("mapreduce.task.io.sort.mb", "64");
    conf.set("mapreduce.output.fileoutputformat.compress", "false");
  }

  /** Writes {@code bytes} of rows to be sorted. */
  public void teraGen(long bytes) throws Exception {
    String rows = Long.toString(bytes / TERA_ROW_BYTES);
    run("TeraGen", new TeraGen(), rows, path("tera-in"));
    check(
        "TeraGen",
        fs.getContentSummary(new Path(path("tera-in"))).getLength()
            == bytes / TERA_ROW_BYTES * TERA_ROW_BYTES,
        "the rows written have another length than the rows asked for");
  }

  /** Sorts them. */
  public void teraSort() throws Exception {
    run("TeraSort", new TeraSort(), path("tera-in"), path("tera-out"));
  }

  /** Lets Hadoop's own validator prove the order, and compares the checksum with the input's. */
  public void teraValidate() throws Exception {
    run("TeraValidate", new TeraValidate(), path("tera-out"), path("tera-report"));
    StringBuilder report = new StringBuilder();
    forEachLine("tera-report", line -> report.append(line).append('\n'));
    run("TeraChecksum", new TeraChecksum(), path("tera-in"), path("tera-sum"));
    StringBuilder sum = new StringBuilder();
    forEachLine("tera-sum", sum::append);
    check(
        "TeraValidate",
        report.toString().equals("checksum\t" + sum + "\n"),
        "the checksum of the input is " + sum + " and it reports: " + report);
    delete("tera-in", "tera-out", "tera-report", "tera-sum");
  }

  /** Writes a text of {@code bytes} bytes; returns how often each word stands in it. */
  public Map<String, Long> writeText(long bytes) throws IOException {
    TextCorpus corpus = new TextCorpus(20261120);
    try (OutputStream out =
        new BufferedOutputStream(fs.create(new Path(base, "text/words.txt")), 1 << 20)) {
      corpus.write(out, bytes);
    }
    return corpus.counts();
  }

  /** Counts the words and compares with {@code expected}. */
  public void wordCount(Map<String, Long> expected) throws Exception {
    Job job = Job.getInstance(conf, "WordCount");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(WordCount.TokenizerMapper.class);
    job.setCombinerClass(WordCount.IntSumReducer.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(path("text")));
    FileOutputFormat.setOutputPath(job, new Path(path("counts")));
    check("WordCount", job.waitForCompletion(true), "the job failed; its log says why");
    Map<String, Long> counted = new TreeMap<>();
    forEachLine(
        "counts",
        line -> {
          int tab = line.indexOf('\t');
          counted.put(line.substring(0, tab), Long.valueOf(line.substring(tab + 1)));
        });
    check(
        "WordCount",
        counted.equals(expected),
        "its counts differ from the count made while the text was written");
    delete("text", "counts");
  }

  /**
   * Hadoop's own I/O test: writes or reads {@code files} files of {@code megabytes}.
   *
   * @return its "throughput": MiB/s while its tasks read or wrote, without what the job costs
   */
  public double dfsio(String direction, int files, int megabytes, String resultFile)
      throws Exception {
    conf.set("test.build.data", path("dfsio"));
    run(
        "TestDFSIO " + direction,
        new TestDFSIO(),
        "-" + direction,
        "-nrFiles",
        Integer.toString(files),
        "-size",
        megabytes + "MB",
        "-bufferSize",
        "262144",
        "-resFile",
        resultFile);
    long length = fs.getContentSummary(new Path(path("dfsio/io_data"))).getLength();
    check(
        "TestDFSIO " + direction,
        length == (((long) files * megabytes) << 20),
        "its files have " + length + " bytes");
    String result = Files.readString(java.nio.file.Path.of(resultFile)); // each run adds its own
    check("TestDFSIO " + direction, result.contains(DFSIO_RESULT), "it measured nothing");
    int last = result.lastIndexOf(DFSIO_RESULT) + DFSIO_RESULT.length();
    return Double.parseDouble(result.substring(last, result.indexOf('\n', last)).trim());
  }

  /** Copies {@code files} files of {@code megabytes} from the local file system and back. */
  void distCp(java.nio.file.Path local, int files, int megabytes) throws Exception {
    java.nio.file.Path source = Files.createDirectories(local.resolve("distcp"));
    java.nio.file.Path back = local.resolve("distcp-back");
    byte[] content = new byte[megabytes << 20];
    Random random = new Random(20261122);
    for (int file = 0; file < files; file++) {
      random.nextBytes(content);
      Files.write(source.resolve("file-" + file), content);
    }
    distCp("DistCp", source.toUri().toString(), path("distcp"));
    distCp("DistCp back", path("distcp"), back.toUri().toString());
    for (int file = 0; file < files; file++) {
      String name = "file-" + file;
      byte[] written = Files.readAllBytes(source.resolve(name));
      CRC32C crc = new CRC32C();
      crc.update(written);
      FileChecksum copied = fs.getFileChecksum(new Path(base, "distcp/" + name));
      check(
          "DistCp",
          copied == null // the raw local file system has none
              || ByteBuffer.wrap(copied.getBytes()).getInt() == (int) crc.getValue(),
          name + " has the checksum " + copied + " instead of " + Long.toHexString(crc.getValue()));
      check(
          "DistCp back",
          Arrays.equals(written, Files.readAllBytes(back.resolve(name))),
          name + " has other bytes");
    }
    delete("distcp");
  }

  private void distCp(String name, String source, String target) throws Exception {
    run(name, new DistCp(conf, null), "-m", "2", source, target);
  }

  private String path(String name) {
    return new Path(base, name).toString();
  }

  private void delete(String... names) throws IOException {
    for (String name : names) {
      fs.delete(new Path(base, name), true);
    }
  }

  private void run(String name, Tool tool, String... arguments) throws Exception {
    int code = ToolRunner.run(new Configuration(conf), tool, arguments);
    check(name, code == 0, "it ended with code " + code + "; its log says why");
  }

  private interface LineHandler {
    void onLine(String line);
  }

  private void forEachLine(String directory, LineHandler handler) throws IOException {
    for (FileStatus file : fs.listStatus(new Path(base, directory))) {
      if (!file.getPath().getName().startsWith("part-")) {
        continue;
      }
      try (BufferedReader reader =
          new BufferedReader(
              new InputStreamReader(fs.open(file.getPath()), StandardCharsets.UTF_8))) {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          handler.onLine(line);
        }
      }
    }
  }

  private static void check(String job, boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(job + " went wrong: " + otherwise);
    }
  }
}
