package io.takofs.bench.compare;

import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file system under test.
 *
 * @param name column heading
 * @param fs the client
 * @param base an empty directory to work in
 * @param serverPids processes whose processor time counts as the server's; none for a local one
 */
record Candidate(String name, FileSystem fs, Path base, List<Long> serverPids) {}
