package io.takofs.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoveIpcTest {
  private static final Path POOL = Path.of("/dev/shm/tako");

  @TempDir Path root;

  private void write(String path, String text) throws IOException {
    Files.createDirectories(root.resolve(path).getParent());
    Files.writeString(root.resolve(path), text);
  }

  private void runLogind() throws IOException {
    Files.createDirectories(root.resolve("run/systemd/seats"));
  }

  private boolean isInDanger(long user, Path pool) throws IOException {
    return new RemoveIpc(root, user).danger(pool).isPresent();
  }

  @Test
  void shouldWarnUsersWhoseSharedMemoryIsRemoved() throws Exception {
    assertThat(isInDanger(1000, POOL)).as("no logind").isFalse();
    runLogind();
    assertThat(new RemoveIpc(root, 1000).danger(POOL).orElseThrow())
        .contains(POOL.toString(), "1000", "RemoveIPC");
    assertThat(isInDanger(0, POOL)).isFalse();
    assertThat(isInDanger(999, POOL)).isFalse();
    assertThat(isInDanger(1000, Path.of("/mnt/tako"))).isFalse();
    assertThat(isInDanger(1000, Path.of("/dev/shm2/tako"))).isFalse();
  }

  @Test
  void shouldKnowWhoIsASystemUserHere() throws Exception {
    runLogind();
    write("etc/login.defs", "# SYS_UID_MAX 1\nSYS_UID_MIN\t\t  101\nSYS_UID_MAX\t\t 499\n");
    assertThat(isInDanger(499, POOL)).isFalse();
    assertThat(isInDanger(500, POOL)).isTrue();
  }

  @Test
  void shouldObeyTheLastAssignment() throws Exception {
    runLogind();
    write("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
    assertThat(isInDanger(1000, POOL)).isTrue();
    write("etc/systemd/logind.conf", "[Login]\nRemoveIPC=no\n");
    assertThat(isInDanger(1000, POOL)).isFalse();
    write("etc/systemd/logind.conf.d/10-a.conf", "[Login]\n RemoveIPC = Yes\n");
    assertThat(isInDanger(1000, POOL)).isTrue();
    write(
        "etc/systemd/logind.conf.d/20-b.conf", "[Other]\nRemoveIPC=yes\n[Login]\nRemoveIPC=off\n");
    assertThat(isInDanger(1000, POOL)).isFalse();
    write("usr/lib/systemd/logind.conf.d/20-b.conf", "[Login]\nRemoveIPC=yes\n");
    assertThat(isInDanger(1000, POOL)).as("hidden by that of /etc").isFalse();
    write("etc/systemd/logind.conf.d/30-c.conf.off", "[Login]\nRemoveIPC=yes\n");
    assertThat(isInDanger(1000, POOL)).isFalse();
  }
}
