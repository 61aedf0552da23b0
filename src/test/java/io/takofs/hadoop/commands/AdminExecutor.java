package io.takofs.hadoop.commands;

import java.util.Arrays;
import org.apache.hadoop.cli.util.CommandExecutor;
import org.apache.hadoop.conf.Configuration;

/** Runs those command lines of HDFS's dfsadmin that are {@link QuotaCommand}s; refuses others. */
final class AdminExecutor extends CommandExecutor {
  private final String uri;
  private final Configuration conf;

  AdminExecutor(String uri, Configuration conf) {
    this.uri = uri;
    this.conf = conf;
  }

  @Override
  protected int execute(String line) {
    String[] words = getCommandAsArgs(line, "NAMENODE", uri);
    // They begin with -fs and the file system.
    if (words.length < 3 || !QuotaCommand.NAMES.contains(words[2])) {
      System.err.println(line + ": only HDFS's own dfsadmin does that");
      return -1;
    }
    QuotaCommand command = new QuotaCommand(words[2]);
    command.setConf(conf);
    return command.run(Arrays.copyOfRange(words, 3, words.length));
  }
}
