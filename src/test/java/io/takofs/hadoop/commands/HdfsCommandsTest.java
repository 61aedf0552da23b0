package io.takofs.hadoop.commands;

/** All that {@code hadoop fs} does. */
class HdfsCommandsTest extends CommandSuite {
  HdfsCommandsTest() {
    super("testHDFSConf");
  }
}
