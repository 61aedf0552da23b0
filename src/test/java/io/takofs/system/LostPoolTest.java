package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.server.pool.Pool;
import org.junit.jupiter.api.Test;

class LostPoolTest {
  @Test
  void shouldStartAnEmptyPoolInPlaceOfALostOneOnlyOnDemand() throws Exception {
    try (ServerProcess server = ServerProcess.start()) {
      server.kill();
      server.restart();
      server.kill();
      assertThat(Pool.delete(server.pool())).isTrue();

      assertThat(catchThrowable(server::restart))
          .hasMessageContaining(server.pool() + " held pool ")
          .hasMessageContaining("RemoveIPC")
          .hasMessageContaining("tako server --format");
      assertThat(server.pool()).doesNotExist();

      server.restartWith("--format");
      server.kill();
      server.restart();
      server.kill();
      assertThat(catchThrowable(() -> server.restartWith("--format")))
          .hasMessageContaining("already holds a pool");
    }
  }
}
