package io.takofs.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.proto.ClusterStatus;
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
  void shouldCallAWarningOfTheClusterAProblemAndGiveItsAdvice() {
    Diagnosis diagnosis = new Diagnosis();
    ClusterStatus cluster =
        ClusterStatus.newBuilder()
            .addServers(server(1))
            .addWarnings("a:1 is not in the cluster; start it; see its log")
            .addWarnings("something else")
            .build();

    new ClusterChecks(diagnosis).run(cluster, new JsonObject());

    JsonArray problems =
        JsonParser.parseString(diagnosis.json()).getAsJsonObject().getAsJsonArray("problems");
    assertThat(problems).hasSize(2);
    JsonObject first = problems.get(0).getAsJsonObject();
    assertThat(first.get("problem").getAsString()).isEqualTo("a:1 is not in the cluster");
    assertThat(first.get("advice").getAsString()).isEqualTo("start it; see its log");
    JsonObject second = problems.get(1).getAsJsonObject();
    assertThat(second.get("problem").getAsString()).isEqualTo("something else");
    assertThat(second.get("advice").getAsString()).contains("tako status");
  }
}
