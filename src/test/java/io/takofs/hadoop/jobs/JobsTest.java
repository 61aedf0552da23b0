package io.takofs.hadoop.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.examples.terasort.TeraChecksum;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.TestDFSIO;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jobs people judge a file system by, small, with what they leave behind checked. */
class JobsTest {
  private static final int ROW_BYTES = 100;

  @TempDir java.nio.file.Path local;
  private Configuration conf;
  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    conf = new Configuration();
    TestServer.configure(conf);
    conf.set("hadoop.tmp.dir", local.toString());
    conf.setInt("mapreduce.task.io.sort.mb", 16);
    conf.setInt("mapreduce.local.map.tasks.maximum", 2);
    conf.setInt("mapreduce.local.reduce.tasks.maximum", 2);
    fs = FileSystem.get(conf);
    fs.delete(new Path("/jobs"), true);
  }

  @Test
  void shouldSortWhatTeraGenWrote() throws Exception {
    int rows = 50_000;
    conf.setInt("mapreduce.job.maps", 3);
    conf.setInt("mapreduce.job.reduces", 2);
    run(new TeraGen(), Integer.toString(rows), "/jobs/generated");
    run(new TeraSort(), "/jobs/generated", "/jobs/sorted");
    assertThat(partBytes("/jobs/generated")).isEqualTo((long) rows * ROW_BYTES);
    assertThat(partBytes("/jobs/sorted")).isEqualTo((long) rows * ROW_BYTES);

    // TeraValidate writes a line for each row that is out of order, and the sum of all rows.
    run(new TeraValidate(), "/jobs/sorted", "/jobs/report");
    run(new TeraChecksum(), "/jobs/generated", "/jobs/checksum");
    Map<String, String> report = tabbedLines("/jobs/report");
    assertThat(report.keySet()).containsExactly("checksum");
    assertThat(tabbedLines("/jobs/checksum").values()).containsExactly(report.get("checksum"));
  }

  @Test
  void shouldCountWords() throws Exception {
    Map<String, String> expected = writeText(new Path("/jobs/text"), 3, 200_000);
    Job job = Job.getInstance(conf, "word count");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(WordCount.TokenizerMapper.class);
    job.setCombinerClass(WordCount.IntSumReducer.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setNumReduceTasks(2);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path("/jobs/text"));
    FileOutputFormat.setOutputPath(job, new Path("/jobs/counts"));
    assertThat(job.waitForCompletion(false)).isTrue();
    assertThat(tabbedLines("/jobs/counts")).isEqualTo(expected);
    assertThat(fs.exists(new Path("/jobs/counts/_SUCCESS"))).isTrue();
  }

  @Test
  void shouldReadBackWhatTestDfsioWrote() throws Exception {
    conf.set("test.build.data", "/jobs/dfsio");
    String results = local.resolve("results").toString();
    dfsio("-write", results);
    FileStatus[] files = fs.listStatus(new Path("/jobs/dfsio/io_data"));
    assertThat(files).hasSize(3);
    for (FileStatus file : files) {
      assertThat(file.getLen()).isEqualTo(4L << 20);
    }
    dfsio("-read", results);
    dfsio("-append", results);
    assertThat(fs.getFileStatus(files[0].getPath()).getLen()).isEqualTo(8L << 20);
    dfsio("-truncate", results);
    assertThat(fs.getFileStatus(files[0].getPath()).getLen()).isEqualTo(4L << 20);
    dfsio("-clean", results);
    assertThat(fs.exists(new Path("/jobs/dfsio/io_data"))).isFalse();
  }

  private void dfsio(String operation, String results) throws Exception {
    run(
        new TestDFSIO(),
        operation,
        "-nrFiles",
        "3",
        "-size",
        "4MB",
        "-bufferSize",
        Integer.toString(256 << 10),
        "-resFile",
        results);
  }

  private void run(Tool tool, String... arguments) throws Exception {
    assertThat(ToolRunner.run(conf, tool, arguments))
        .as(tool.getClass().getSimpleName())
        .isEqualTo(0);
  }

  private long partBytes(String directory) throws IOException {
    long bytes = 0;
    for (FileStatus part : fs.globStatus(new Path(directory, "part-*"))) {
      bytes += part.getLen();
    }
    return bytes;
  }

  /** The lines of all parts, each split at its first tab; one without a tab is a value. */
  private Map<String, String> tabbedLines(String directory) throws IOException {
    Map<String, String> lines = new TreeMap<>();
    for (FileStatus part : fs.globStatus(new Path(directory, "part-*"))) {
      try (BufferedReader reader =
          new BufferedReader(new InputStreamReader(fs.open(part.getPath()), UTF_8))) {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          int tab = line.indexOf('\t');
          lines.put(line.substring(0, Math.max(tab, 0)), line.substring(tab + 1));
        }
      }
    }
    return lines;
  }

  /** Writes files of random words and counts them on the way. */
  private Map<String, String> writeText(Path directory, int files, int wordsPerFile)
      throws IOException {
    Random random = new Random(17);
    Map<String, Integer> counts = new TreeMap<>();
    for (int file = 0; file < files; file++) {
      try (FSDataOutputStream out = fs.create(new Path(directory, "text-" + file))) {
        StringBuilder line = new StringBuilder();
        for (int word = 0; word < wordsPerFile; word++) {
          // Squared: a few words are frequent and many are rare.
          int rank = random.nextInt(100) * random.nextInt(100);
          String text = "w\u00f6rd" + rank;
          counts.merge(text, 1, Integer::sum);
          line.append(text).append(word % 10 == 9 ? '\n' : ' ');
        }
        out.write(line.toString().getBytes(UTF_8));
      }
    }
    Map<String, String> expected = new TreeMap<>();
    counts.forEach((word, count) -> expected.put(word, count.toString()));
    return expected;
  }
}
