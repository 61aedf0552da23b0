package io.takofs.server.groups;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Caching the answers of a tool that sometimes fails. */
@Timeout(60)
class SystemGroupsTest {
  @TempDir Path directory;
  private Path tool;
  private SystemGroups groups;

  @BeforeEach
  void create() {
    tool = directory.resolve("id");
    groups = groups(30);
  }

  /** A busy machine may take a second to start the tool. */
  private SystemGroups groups(int timeoutS) {
    return new SystemGroups(
        new StaticGroups(Map.of("bob", List.of("staff"))), Clock.SYSTEM, tool.toString(), timeoutS);
  }

  private void toolRuns(String script) throws IOException {
    Files.writeString(tool, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void shouldKeepWhatTheToolSays() throws IOException {
    toolRuns("printf 'users\\0wheel\\0'");
    assertThat(groups.known("alice")).isNull();
    assertThat(groups.resolve("alice")).containsExactly("users", "wheel");
    toolRuns("printf 'others\\0'");
    assertThat(groups.known("alice")).containsExactly("users", "wheel");
    assertThat(groups.resolve("bob")).containsExactly("staff");
  }

  @Test
  void shouldKeepBlanksInTheNameOfAGroup() throws IOException {
    toolRuns(
        """
        case $1 in
          -*z*) printf 'domain users\\0users of the cluster\\0' ;;
          *) echo domain users users of the cluster ;;
        esac""");
    assertThat(groups.resolve("alice")).containsExactly("domain users", "users of the cluster");
  }

  @Test
  void shouldAskTheToolOfThisSystem() {
    SystemGroups system = new SystemGroups(new StaticGroups(Map.of()), Clock.SYSTEM);
    assertThat(system.resolve("root")).contains("root");
    assertThat(system.resolve("no-such-user-here")).isEmpty();
  }

  @Test
  void shouldKeepThatAUserDoesNotExist() throws IOException {
    toolRuns("echo no such user >&2; exit 1");
    assertThat(groups.resolve("nobody-here")).isEmpty();
    assertThat(groups.known("nobody-here")).isEmpty();
    assertThat(groups.resolve("-rf")).isEmpty();
    assertThat(groups.known("-rf")).isEmpty();
  }

  @Test
  void shouldAskAgainAfterAToolThatCouldNotBeStarted() throws IOException {
    assertThat(groups.resolve("alice")).isNull();
    assertThat(groups.known("alice")).isNull();
    toolRuns("printf 'users\\0'");
    assertThat(groups.resolve("alice")).containsExactly("users");
  }

  @Test
  void shouldAskAgainAfterAToolThatTookTooLong() throws IOException {
    groups = groups(1);
    toolRuns("exec sleep 30");
    assertThat(groups.resolve("alice")).isNull();
    toolRuns("printf 'users\\0'");
    TestServer.await(() -> groups.resolve("alice") != null);
    assertThat(groups.known("alice")).containsExactly("users");
  }

  @Test
  void shouldAskAgainAfterAToolThatDied() throws IOException {
    toolRuns("echo us; kill -9 $$");
    assertThat(groups.resolve("alice")).isNull();
    toolRuns("printf 'users\\0'");
    assertThat(groups.resolve("alice")).containsExactly("users");
  }
}
