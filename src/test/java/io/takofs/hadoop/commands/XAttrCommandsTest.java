package io.takofs.hadoop.commands;

/** {@code setfattr} and {@code getfattr}. */
class XAttrCommandsTest extends CommandSuite {
  XAttrCommandsTest() {
    super("testXAttrConf");
  }
}
