package io.takofs.bench.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HadoopDaemonsTest {
  @TempDir private Path temporary;

  /** A daemon that starts while the JVM ends would stay when it has ended. */
  @Test
  void shouldStartNoneOnceTheyAreEnded() throws Exception {
    HadoopDaemons daemons = new HadoopDaemons(temporary.resolve("daemons"), List.of());
    daemons.close();

    assertThatThrownBy(() -> daemons.start("late", "NoClass"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("late is not started");
    assertThat(daemons.pids()).isEmpty();
  }

  @Test
  void shouldSayWhatFailedAndKeepNoEndedProgram() throws Exception {
    try (HadoopDaemons daemons = new HadoopDaemons(temporary.resolve("daemons"), List.of())) {
      assertThatThrownBy(() -> daemons.run("program", "NoClass"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("program failed")
          .hasMessageContaining("ClassNotFoundException: NoClass");
      assertThat(daemons.pids()).isEmpty();
    }
  }
}
