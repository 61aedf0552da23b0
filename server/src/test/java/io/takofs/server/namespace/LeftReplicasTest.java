package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LeftReplica;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.namespace.Harness.Client;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A replica that left its slab is remembered, with those who may still write there. */
@Timeout(60)
class LeftReplicasTest {
  private static final Replica JOINING =
      Replica.newBuilder().setServer(2).setArena(0).setIndex(3).setLease(77).build();

  private final Harness harness = new Harness();
  private final Client client = harness.superuser();

  private Slab slab(String path) {
    return harness.machine.slabs().get(client.extents(path).get(0).getSlab());
  }

  private void close(Slab slab) {
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry.getCloseSlabBuilder().setId(slab.getId()).setVersion(slab.getVersion());
    assertOk(harness.apply(entry));
  }

  private void replace(Slab slab, int leaving) {
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry
        .getSwitchReplicaBuilder()
        .setId(slab.getId())
        .setVersion(slab.getVersion())
        .setLeaving(leaving)
        .setJoining(JOINING);
    assertOk(harness.apply(entry));
  }

  @Test
  void shouldRememberWhoMayStillWriteToAReplicaThatLeft() {
    client.file("/closed", 1000);
    Client writer = harness.superuser();
    OpenedFile open = writer.opened("/open");
    writer.committed(
        Harness.commit(open)
            .addExtents(Harness.written(writer.granted(open, 65536), 0, 100))
            .setLength(100));
    Client other = harness.superuser();
    other.granted(other.opened("/granted"), 65536);
    Slab slab = slab("/closed");
    assertThat(slab("/open")).isEqualTo(slab);
    close(slab);
    replace(slab, 1);
    LeftReplica left =
        LeftReplica.newBuilder()
            .setReplica(slab.getReplicas(0))
            .addAllGrantees(Stream.of(client.id, writer.id, other.id).sorted().toList())
            .build();
    assertThat(harness.machine.leftReplicas().all()).containsExactly(left);
    harness.restart();
    assertThat(harness.machine.leftReplicas().all()).containsExactly(left);
    assertThat(harness.machine.slabs().get(slab.getId()).getReplicasList())
        .containsExactly(JOINING);
  }

  @Test
  void shouldRememberWhoMayStillWriteInASlabThatGoes() {
    Client writer = harness.superuser();
    OpenedFile open = writer.opened("/open");
    long id = writer.granted(open, 65536).getSlab();
    Slab slab = harness.machine.slabs().get(id);
    LogEntry.Builder remove = LogEntry.newBuilder();
    remove.getRemoveSlabBuilder().setId(id);
    assertThat(harness.apply(remove).getStatus()).isEqualTo(Status.NOT_EMPTY);
    close(slab);
    assertThat(harness.apply(remove).getStatus()).as("it is kept").isEqualTo(Status.NOT_EMPTY);
    assertOk(client.delete("/open", false));
    assertThat(harness.machine.quarantinedCount()).isEqualTo(1);
    assertOk(harness.apply(remove));
    LeftReplica left =
        LeftReplica.newBuilder().setReplica(slab.getReplicas(0)).addGrantees(writer.id).build();
    for (int i = 0; i < 2; i++) {
      assertThat(harness.machine.leftReplicas().all()).containsExactly(left);
      assertThat(harness.machine.quarantinedCount()).isZero();
      assertThat(harness.machine.slabs().get(id)).isNull();
      harness.restart();
    }
  }

  @Test
  void shouldForgetAReplicaThatItsServerTookBack() {
    client.file("/closed", 1000);
    Slab slab = slab("/closed");
    close(slab);
    replace(slab, 1);
    LogEntry.Builder returned = LogEntry.newBuilder();
    returned.getReplicaReturnedBuilder().setReplica(slab.getReplicas(0));
    for (int i = 0; i < 2; i++) {
      assertThat(harness.apply(returned).getStatus()).isEqualTo(Status.OK);
      assertThat(harness.machine.leftReplicas().all()).isEmpty();
    }
    harness.restart();
    assertThat(harness.machine.leftReplicas().all()).isEmpty();
  }
}
