package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Extents whose grants ended with their slab stay until their writer has read them back. */
class ClosedExtentsTest extends SlabRepairRig {
  /** Seconds after which a writer's connections are ended for the sake of its extents. */
  private static final int LONG = 90;

  private OpenedFile file;
  private Extent grant;

  @BeforeEach
  void closeASlabThatIsWritten() throws Exception {
    lead(4, 3);
    file = create("/open", 3);
    grant = grant(file);
    servers.stop(serversOf(slab(grant.getSlab())).get(2));
    await(() -> slab(grant.getSlab()).getClosed(), 20);
  }

  private long resting() {
    return rig.machine.quarantinedCount();
  }

  private CommitExtents.Builder commit() {
    return CommitExtents.newBuilder()
        .setFileId(file.getFile().getId())
        .setLeaseEpoch(file.getLeaseEpoch());
  }

  private Reply execute(Request.Builder request) throws TakoException {
    return rig.execute(client, request.build());
  }

  @Test
  void shouldStayWhileTheirWriterHasItsLease() throws Exception {
    assertThat(resting()).isPositive();
    long before = resting();
    run(LONG);
    assertThat(resting()).isEqualTo(before);
    CommitExtents commit =
        commit().addExtents(grant.toBuilder().clearGrant().setLength(1)).setLength(1).build();
    assertThat(execute(Request.newBuilder().setCommitExtents(commit)).getStatus())
        .as("its writer still has the lease")
        .isEqualTo(Status.STALE_VERSION);
  }

  @Test
  void shouldBeFreeWhenTheirWriterGivesThemUp() throws Exception {
    GrantExtents.Builder next =
        TestClient.grant(file, 1).getGrantExtents().toBuilder().addLeft(grant);
    TestClient.ok(execute(Request.newBuilder().setGrantExtents(next)));
    await(() -> resting() == 0, LONG);
  }

  @Test
  void shouldBeFreeWhenTheirWriterCloses() throws Exception {
    CommitExtents.Builder close = commit().setClose(true).setAbandon(true);
    TestClient.ok(execute(Request.newBuilder().setCommitExtents(close)));
    await(() -> resting() == 0, LONG);
  }
}
