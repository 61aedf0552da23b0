package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Space of deleted files that servers are asked to free. */
class FreedSpaceTest extends SlabRepairRig {
  @Test
  void shouldBeWaitedForWhenThereIsNoOther() throws Exception {
    lead(2, 2);
    OpenedFile file = create("/new", 2);
    Request grant = TestClient.grant(file, 1);
    List<String> files = fill();
    assertThat(answer(grant)).isEqualTo(Status.NO_SPACE);
    for (String path : files) {
      delete(path);
    }
    for (int i = 0; rig.machine.reclaimPending(); i++) {
      assertThat(answer(grant)).isEqualTo(Status.UNAVAILABLE);
      assertThat(i).isLessThan(1000);
    }
    // The leader's own server is done, the other one has not answered yet.
    assertThat(answer(grant)).isEqualTo(Status.UNAVAILABLE);
    assertThat(answer(grant.toBuilder().setHasWaited(true).build())).isEqualTo(Status.NO_SPACE);
    await(() -> answer(grant) == Status.OK, 1);
  }

  /** What was deleted cannot be freed before the slabs that it is in have all replicas again. */
  @Test
  void shouldBeWaitedForWhileAServerIsAway() throws Exception {
    lead(2, 2);
    OpenedFile file = create("/new", 2);
    Request grant = TestClient.grant(file, 1);
    List<String> files = fill();
    servers.stop(2);
    run(40);
    for (String path : files) {
      delete(path);
    }
    await(() -> !rig.machine.reclaimPending(), 60);
    run(5);
    assertThat(answer(grant)).isEqualTo(Status.UNAVAILABLE);
    assertThat(answer(grant.toBuilder().setHasWaited(true).build())).isEqualTo(Status.NO_SPACE);
    servers.start(2);
    await(() -> answer(grant) == Status.OK, 40);
  }

  /** Files that take all space there is. */
  private List<String> fill() throws TakoException {
    List<String> files = new ArrayList<>();
    while (true) {
      OpenedFile file = create("/file" + files.size(), 2);
      Request grant = TestClient.grant(file, 1);
      Reply granted = ask(grant);
      for (int i = 0; i < 20 && !granted.hasGrants(); i++) {
        run(1);
        granted = ask(grant);
      }
      if (!granted.hasGrants()) {
        return files;
      }
      Extent extent = granted.getGrants().getExtents(0);
      CommitExtents.Builder commit =
          CommitExtents.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch())
              .addExtents(extent.toBuilder().clearGrant().setLength(extent.getCapacity()))
              .setLength(extent.getCapacity())
              .setClose(true)
              .setAllWritesCompleted(true);
      TestClient.ok(rig.execute(client, Request.newBuilder().setCommitExtents(commit).build()));
      files.add("/file" + files.size());
    }
  }

  private Status answer(Request grant) {
    return ask(grant).getStatus();
  }

  private Reply ask(Request grant) {
    try {
      rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, grant, client);
      return rig.execute(client, grant);
    } catch (TakoException e) {
      return Reply.newBuilder().setStatus(e.status()).build();
    }
  }
}
