package io.takofs.bench.clusters;

import io.takofs.hadoop.TakoFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A JVM that is a client of a cluster: writes files until all servers have some, reads them, and
 * says what it has more than before its first call.
 */
final class ClientProcess {
  private static final int FILE_BYTES = 1 << 20;

  /** Files for each server at most: placement fills all of them long before. */
  private static final int FILES_PER_SERVER = 64;

  private ClientProcess() {}

  /** Arguments: URI, transport, servers. */
  public static void main(String[] arguments) throws IOException {
    URI uri = URI.create(arguments[0]);
    Configuration conf = new Configuration();
    conf.set("fs.tako.impl", TakoFileSystem.class.getName());
    conf.set("fs.tako.transport", arguments[1]);
    try (FileSystem fs = FileSystem.newInstance(uri, conf)) {
      ProcessCost before = ProcessCost.ofSelf();
      use(fs, Integer.parseInt(arguments[2]));
      System.out.println(ProcessCost.ofSelf().minus(before).text());
    }
  }

  private static void use(FileSystem fs, int servers) throws IOException {
    byte[] bytes = new byte[FILE_BYTES];
    Set<String> used = new HashSet<>();
    Path directory = new Path("/client-" + ProcessHandle.current().pid());
    for (int number = 0; used.size() < servers; number++) {
      if (number == servers * FILES_PER_SERVER) {
        throw new IOException(
            number + " files lie on " + used.size() + " of " + servers + " servers: " + used);
      }
      Path file = new Path(directory, "f" + number);
      try (FSDataOutputStream out = fs.create(file)) {
        out.write(bytes);
      }
      try (FSDataInputStream in = fs.open(file)) {
        in.readFully(bytes);
      }
      for (BlockLocation block : fs.getFileBlockLocations(file, 0, FILE_BYTES)) {
        used.addAll(List.of(block.getNames()));
      }
    }
  }
}
