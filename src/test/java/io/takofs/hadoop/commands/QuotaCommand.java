package io.takofs.hadoop.commands;

import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
import org.apache.hadoop.fs.shell.FsCommand;
import org.apache.hadoop.fs.shell.PathData;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;

/**
 * A quota command of HDFS's dfsadmin, which takes no other file system, through Hadoop's interface:
 * so the cases that set quotas before they look at something else can be run.
 */
final class QuotaCommand extends FsCommand {
  /** Those that there are. */
  static final List<String> NAMES =
      List.of("-setQuota", "-clrQuota", "-setSpaceQuota", "-clrSpaceQuota");

  private static final long NONE = -1;
  private static final long AS_IT_IS = Long.MAX_VALUE;

  private long limit = NONE;

  /**
   * @param name one of {@link #NAMES}
   */
  QuotaCommand(String name) {
    setName(name);
  }

  @Override
  @SuppressWarnings("NonApiType") // Hadoop's signature
  protected void processOptions(LinkedList<String> arguments) {
    if (getName().startsWith("set")) {
      limit = TraditionalBinaryPrefix.string2long(arguments.removeFirst());
    }
  }

  @Override
  protected void processPath(PathData item) throws IOException {
    if (getName().endsWith("SpaceQuota")) {
      item.fs.setQuota(item.path, AS_IT_IS, limit);
    } else {
      item.fs.setQuota(item.path, limit, AS_IT_IS);
    }
  }

  /** The file system says so itself. */
  @Override
  protected void processNonexistentPath(PathData item) throws IOException {
    processPath(item);
  }
}
