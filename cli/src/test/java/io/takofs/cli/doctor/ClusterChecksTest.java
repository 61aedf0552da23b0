package io.takofs.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import org.junit.jupiter.api.Test;

class ClusterChecksTest {
  /** A server that is not connected to. */
  private static ServerHealth server(int id) {
    return ServerHealth.newBuilder()
        .setEntry(ServerEntry.newBuilder().setId(id).setState(ServerEntry.State.DECOMMISSIONED))
        .build();
  }

  @Test
  void shouldCallRepairThatCannotGoOnAProblem() {
    Diagnosis diagnosis = new Diagnosis();
    ClusterStatus cluster =
        ClusterStatus.newBuilder()
            .addServers(server(1))
            .addServers(server(2))
            .setRepair(
                RepairStatus.newBuilder()
                    .setSlabsWaiting(8)
                    .setSlabsWithoutServer(3)
                    .setSlabsWithoutRoom(5))
            .build();
    new ClusterChecks(diagnosis).run(cluster, new JsonObject());
    assertThat(diagnosis.json())
        .contains("3 slabs wait for a server: ", "5 slabs wait for room: ", "add a server");
  }
}
