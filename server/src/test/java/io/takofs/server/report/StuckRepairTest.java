package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.RepairStatus;
import org.junit.jupiter.api.Test;

class StuckRepairTest {
  @Test
  void shouldSayNothingWhileRepairGoesOn() {
    assertThat(StuckRepair.of(RepairStatus.newBuilder().setSlabsWaiting(3).build())).isEmpty();
  }

  @Test
  void shouldSayWhatIsWrongAndWhatToDo() {
    RepairStatus repair =
        RepairStatus.newBuilder()
            .setSlabsWaiting(3)
            .setSlabsWithoutServer(1)
            .setSlabsWithoutRoom(2)
            .build();
    assertThat(StuckRepair.of(repair))
        .containsExactly(
            "1 slab waits for a server: each one that is up has a copy already, or leaves;"
                + " add a server, start those that are silent, or, where there is room for files of"
                + " fewer copies, lower the replication of these (setrep)",
            "2 slabs wait for room: the servers that could have another copy are full;"
                + " delete files, or add a server");
  }
}
