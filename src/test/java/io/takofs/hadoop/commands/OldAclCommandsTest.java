package io.takofs.hadoop.commands;

/** The same, written when the umask was applied first. */
class OldAclCommandsTest extends CommandSuite {
  OldAclCommandsTest() {
    super("testAclCLI");
  }
}
