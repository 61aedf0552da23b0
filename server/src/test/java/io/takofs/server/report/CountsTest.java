package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CheckpointStatus;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.ServerStatus;
import org.junit.jupiter.api.Test;

class CountsTest {
  @Test
  void shouldHaveOneOfASingular() {
    assertThat(Counts.text(0, "file", "files")).isEqualTo("0 files");
    assertThat(Counts.text(1, "file", "files")).isEqualTo("1 file");
    assertThat(Counts.text(2, "file", "files")).isEqualTo("2 files");
  }

  @Test
  void shouldTellWhatRestsFromWhatIsUsed() {
    ServerStatus status =
        ServerStatus.newBuilder()
            .addExtents(ExtentStatus.newBuilder().setState("committed").setBytes(1))
            .addExtents(ExtentStatus.newBuilder().setState("quarantine").setBytes(2))
            .build();
    assertThat(Counts.quarantineBytes(status)).isEqualTo(2);
  }

  @Test
  void shouldNotGiveTheAgeOfACheckpointThatWasNotMade() {
    CheckpointStatus none = CheckpointStatus.newBuilder().setAgeMs(65_000).build();
    CheckpointStatus one = none.toBuilder().setMade(1).build();
    ServerStatus.Builder status = ServerStatus.newBuilder();
    assertThat(Counts.checkpointAge(status.setCheckpoint(none).build())).isEqualTo("none yet");
    assertThat(Counts.checkpointAge(status.setCheckpointIndex(7).build()))
        .isEqualTo("before the server started");
    assertThat(Counts.checkpointAge(status.setCheckpoint(one).build())).isEqualTo("00:01:05 ago");
  }
}
