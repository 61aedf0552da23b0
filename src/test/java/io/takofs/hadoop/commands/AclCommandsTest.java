package io.takofs.hadoop.commands;

/** {@code setfacl} and {@code getfacl}, where new entries inherit as they do by HDFS's default. */
class AclCommandsTest extends CommandSuite {
  AclCommandsTest() {
    super("testAclCLIWithPosixAclInheritance");
  }
}
