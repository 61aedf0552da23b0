package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.Quarantined;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Extents that their writer leaves because a server of them failed. */
class LeftExtentTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();
  private OpenedFile opened;
  private Extent left;
  private Extent next;

  @BeforeEach
  void writeSomeInOneExtentAndTheRestInAnother() {
    opened = client.opened("/f");
    left = client.granted(opened, 1);
    next = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(left, 0, 100)).setLength(100));
    client.committed(commit(opened).addExtents(written(next, 100, 50)).setLength(150));
  }

  private void close(CommitExtents.Builder commit) {
    client.committed(commit.setLength(150).setClose(true));
  }

  private void reclaim() {
    while (server.machine.reclaimPending()) {
      server.reclaim(100);
    }
  }

  @Test
  void shouldWaitForTheWriterThatLeftAnExtentWhenItIsDeleted() {
    close(commit(opened));
    assertOk(client.delete("/f", false));
    reclaim();
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id, client.id);
  }

  @Test
  void shouldWaitForItThoughItsOtherWritesCompleted() {
    close(commit(opened).setAllWritesCompleted(true));
    assertOk(client.delete("/f", false));
    reclaim();
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactlyInAnyOrder(client.id, 0L);
  }

  @Test
  void shouldNotAppendToAnExtentThatWasLeftWhenTheFileIsCutToIt() {
    close(commit(opened).setAllWritesCompleted(true));
    assertOk(
        client.truncate(
            Truncate.newBuilder()
                .setPath("/f")
                .setLength(100)
                .setExpectedVersion(client.info("/f").getVersion())));
    assertThat(assertOk(client.append("/f")).getOpenedFile().hasLastExtent()).isFalse();
  }

  @Test
  void shouldNotTakeMoreBytesInAnExtentThatWasLeft() {
    assertStatus(
        client.commit(
            commit(opened)
                .addExtents(written(left, 0, 120))
                .addExtents(written(next, 120, 50))
                .setLength(170)),
        Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldLetTheLastExtentGrow() {
    client.committed(commit(opened).addExtents(written(next, 100, 60)).setLength(160));
    assertThat(client.info("/f").getLength()).isEqualTo(160);
  }
}
