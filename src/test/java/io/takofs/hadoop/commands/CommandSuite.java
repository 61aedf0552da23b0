package io.takofs.hadoop.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import io.takofs.hadoop.TestServer;
import io.takofs.system.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.cli.CLITestHelper;
import org.apache.hadoop.cli.util.CLICommand;
import org.apache.hadoop.cli.util.CLITestData;
import org.apache.hadoop.cli.util.CommandExecutor.Result;
import org.apache.hadoop.cli.util.ComparatorData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * A file of HDFS's cases, each some commands and what they must print, run on a server of its own
 * through Hadoop's helper for them. The file comes out of HDFS's artifact and is read as if HDFS's
 * scheme were ours. A case that must come out differently on Tako is listed, with the reason, in
 * the file {@code commands/<name>.deviations} of the test resources, and must do so.
 */
abstract class CommandSuite extends CLITestHelper {
  /** Prefix of a command of a program that only HDFS has. */
  private static final String ADMIN = "dfsadmin ";

  private final String name;
  private ServerProcess server;

  /**
   * @param name of the file, without its .xml
   */
  CommandSuite(String name) {
    this.name = name;
  }

  @BeforeEach
  @Override
  public void setUp() throws Exception {
    Path cases = Path.of(TEST_CACHE_DATA_DIR);
    String text =
        Files.readString(cases.resolve(name + ".xml"))
            .replace("hdfs:/", "tako:/")
            .replace("<dfs-admin-command>", "<command>" + ADMIN)
            .replace("</dfs-admin-command>", "</command>");
    Files.writeString(cases.resolve(getTestFile()), text);
    super.setUp();
    server = ServerProcess.start();
    TestServer.configure(conf, server.uri());
    username = System.getProperty("user.name");
  }

  @AfterEach
  @Override
  public void tearDown() throws IOException {
    server.close();
  }

  @Override
  protected String getTestFile() {
    return name + "-tako.xml";
  }

  @Override
  protected String expandCommand(String command) {
    return super.expandCommand(command.replace("NAMENODE", server.uri().toString()))
        .replace("#LF#", System.lineSeparator());
  }

  @Override
  protected Result execute(CLICommand command) throws Exception {
    String line = command.getCmd();
    String uri = server.uri().toString();
    awaitNextMillisecond();
    return line.startsWith(ADMIN)
        ? new AdminExecutor(uri, conf).executeCommand(line.substring(ADMIN.length()))
        : command.getExecutor(uri, conf).executeCommand(line);
  }

  /** Commands of a shell come milliseconds apart, and listings by time need that. */
  private static void awaitNextMillisecond() {
    long now = System.currentTimeMillis();
    while (System.currentTimeMillis() == now) {
      Thread.onSpinWait();
    }
  }

  /** Runs all; each is a test of its own. */
  @TestFactory
  List<DynamicTest> cases() throws IOException {
    testAll();
    Map<String, String> deviations = Deviations.read("/commands/" + name + ".deviations");
    List<DynamicTest> tests = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (CLITestData test : testsFromConfigFile) {
      String description = test.getTestDesc().strip();
      String caseName = description;
      // Some descriptions stand there twice.
      for (int time = 2; !names.add(caseName); time++) {
        caseName = description + " (" + time + ")";
      }
      String reason = deviations.get(caseName);
      tests.add(DynamicTest.dynamicTest(caseName, () -> check(test, reason)));
    }
    assertThat(names).as("cases").containsAll(deviations.keySet());
    return tests;
  }

  private void check(CLITestData test, String reason) {
    if (reason != null) {
      assertThat(test.getTestResult()).as("it passes, so it is no deviation: " + reason).isFalse();
      Assumptions.abort(reason);
    }
    if (!test.getTestResult()) {
      StringBuilder message = new StringBuilder();
      for (CLICommand command : test.getTestCommands()) {
        message.append("\n$ ").append(expandCommand(command.getCmd()));
      }
      for (ComparatorData comparison : test.getComparatorData()) {
        message.append("\n").append(comparison.getComparatorType());
        message.append(": ").append(expandCommand(comparison.getExpectedOutput()));
        message.append(comparison.getTestResult() ? "\nas in:\n" : "\nbut printed:\n");
        message.append(comparison.getActualOutput());
      }
      fail(message.toString());
    }
  }
}
