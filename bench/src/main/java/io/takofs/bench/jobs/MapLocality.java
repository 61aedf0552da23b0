package io.takofs.bench.jobs;

import io.takofs.bench.hadoop.YarnCluster;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * Checks that YARN runs maps where the file system says that their data is: on a host that has it,
 * else in that host's rack, else anywhere. Each case has one outcome only, because of the hosts
 * that NodeManagers run on: all of them have a copy, or only one in the rack of the copy does, or
 * only one in another rack.
 *
 * <p>Thread rule: one thread. An IOException says what is elsewhere than it should be.
 */
final class MapLocality {
  private static final int BLOCKS = 3;
  private static final int BLOCK_BYTES = 4 << 20;

  private final YarnCluster yarn;
  private final Path directory;
  private final List<String> hosts;
  private final PrintStream out;
  private final Configuration conf;
  private final FileSystem fs;

  /**
   * @param directory a missing one of the file system
   * @param hosts the data servers', each with a NodeManager
   */
  MapLocality(YarnCluster yarn, Path directory, List<String> hosts, PrintStream out)
      throws IOException {
    this.yarn = yarn;
    this.directory = directory;
    this.hosts = hosts;
    this.out = out;
    this.conf = yarn.configuration();
    this.fs = directory.getFileSystem(conf);
  }

  void check() throws Exception {
    Path everywhere = write("everywhere", hosts.size());
    Map<String, String> racks = racks(everywhere);
    require(
        racks.keySet().containsAll(hosts),
        everywhere + " has copies on " + racks.keySet() + " and not on each of " + hosts);
    Path once = write("once", 1);
    List<String> holders = List.copyOf(racks(once).keySet());
    require(holders.size() == 1, once + " has one copy, and is on " + holders);
    String holder = holders.get(0);
    String neighbour = other(holder, racks, true);
    String stranger = other(holder, racks, false);

    requireMaps(everywhere, hosts, JobCounter.DATA_LOCAL_MAPS);
    requireMaps(once, List.of(holder), JobCounter.DATA_LOCAL_MAPS);
    requireMaps(once, List.of(neighbour), JobCounter.RACK_LOCAL_MAPS);
    requireMaps(once, List.of(stranger), JobCounter.OTHER_LOCAL_MAPS);
  }

  /** Another host than {@code host}, in its rack or in none of it. */
  private static String other(String host, Map<String, String> racks, boolean sameRack)
      throws IOException {
    for (Map.Entry<String, String> entry : racks.entrySet()) {
      boolean same = entry.getValue().equals(racks.get(host));
      if (!entry.getKey().equals(host) && same == sameRack) {
        return entry.getKey();
      }
    }
    throw new IOException(
        String.format(
            "the data is on %s, and no other host is %s its rack: %s",
            host, sameRack ? "in" : "outside of", racks));
  }

  private Path write(String name, int copies) throws IOException {
    Path file = new Path(directory, name);
    byte[] line = "a line of text for maps to read\n".getBytes(StandardCharsets.UTF_8);
    try (OutputStream stream = fs.create(file, true, 1 << 20, (short) copies, BLOCK_BYTES)) {
      for (int bytes = 0; bytes < BLOCKS * BLOCK_BYTES; bytes += line.length) {
        stream.write(line);
      }
    }
    return file;
  }

  /** Racks of the hosts that have all blocks of {@code file}. */
  private Map<String, String> racks(Path file) throws IOException {
    Map<String, String> racks = new HashMap<>();
    BlockLocation[] blocks = fs.getFileBlockLocations(file, 0, fs.getFileStatus(file).getLen());
    require(blocks.length == BLOCKS, file + " has " + blocks.length + " blocks");
    for (BlockLocation block : blocks) {
      Map<String, String> own = new HashMap<>();
      for (int i = 0; i < block.getHosts().length; i++) {
        String path = block.getTopologyPaths()[i]; // /rack/host:port
        own.put(block.getHosts()[i], path.substring(0, path.lastIndexOf('/')));
      }
      require(
          racks.isEmpty() || racks.equals(own),
          file + " has its blocks in different places: " + racks + " and " + own);
      racks.putAll(own);
    }
    return racks;
  }

  /**
   * Runs a job over {@code file} on YARN at {@code nodes}; all its maps must count as {@code as}.
   */
  private void requireMaps(Path file, List<String> nodes, JobCounter as) throws Exception {
    yarn.runOn(nodes);
    Job job = Job.getInstance(conf, "locality of " + file.getName());
    job.setJarByClass(Mapper.class);
    job.setMapperClass(Mapper.class);
    job.setNumReduceTasks(0);
    job.setSpeculativeExecution(false);
    job.setOutputFormatClass(NullOutputFormat.class);
    FileInputFormat.addInputPath(job, file);
    require(job.waitForCompletion(false), "the job failed: " + job.getStatus().getFailureInfo());
    Counters counters = job.getCounters();
    StringBuilder counted = new StringBuilder();
    for (JobCounter counter :
        List.of(
            JobCounter.DATA_LOCAL_MAPS, JobCounter.RACK_LOCAL_MAPS, JobCounter.OTHER_LOCAL_MAPS)) {
      counted.append(' ').append(counter).append('=');
      counted.append(counters.findCounter(counter).getValue());
    }
    String what = String.format("maps of '%s' on %s:%s", file.getName(), nodes, counted);
    require(
        counters.findCounter(as).getValue() == BLOCKS
            && counters.findCounter(JobCounter.TOTAL_LAUNCHED_MAPS).getValue() == BLOCKS,
        what + ", and all " + BLOCKS + " should be " + as);
    out.println("    " + what);
  }

  private static void require(boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException("places of data: " + otherwise);
    }
  }
}
