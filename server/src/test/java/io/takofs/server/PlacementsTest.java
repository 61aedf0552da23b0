package io.takofs.server;

import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Placement;
import io.takofs.proto.RecoverLease;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bytes that a commit carries are stored where their sender could have stored them, and once. */
@Timeout(120)
class PlacementsTest {
  private static final byte[] FIRST = {1, 2, 3, 4};
  private static final byte[] SECOND = {5, 6, 7, 8};

  @TempDir Path directory;

  private TestServer server;
  private TestClient writer;
  private OpenedFile file;
  private Extent extent;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), new ManualClock());
    writer = new TestClient(server, TestServer.SUPERUSER);
    file = ok(writer.call(TestClient.create("/f", Layout.UNIT_SIZE))).getOpenedFile();
    extent = file.getGrants(0);
  }

  @AfterEach
  void stop() {
    writer.close();
    server.close();
  }

  private Request commit(int length, Placement... placements) {
    CommitExtents.Builder commit =
        CommitExtents.newBuilder()
            .setFileId(file.getFile().getId())
            .setLeaseEpoch(file.getLeaseEpoch())
            .addExtents(extent.toBuilder().setLength(length))
            .setLength(length);
    for (Placement placement : placements) {
      commit.addPlacements(placement);
    }
    return Request.newBuilder().setCommitExtents(commit).build();
  }

  private static Placement at(int offset, byte... data) {
    return Placement.newBuilder().setOffset(offset).setData(ByteString.copyFrom(data)).build();
  }

  private byte[] stored(int offset) {
    return server.arenaBytes(offset, FIRST.length);
  }

  private void assertRefused(Status status, int offset, Request request) throws Exception {
    byte[] before = stored(offset);
    Reply reply = writer.call(request);
    assertThat(reply.getStatus()).isEqualTo(status);
    assertThat(reply.getMessage()).isNotBlank();
    assertThat(stored(offset)).isEqualTo(before);
  }

  @Test
  void shouldStoreBytesAndEntriesBeforeTheyAreCommitted() throws Exception {
    int entry = extent.getOffset() / Layout.GRANULE_SIZE * Integer.BYTES;
    ok(writer.call(commit(4, at(extent.getOffset(), FIRST))));
    ok(
        writer.call(
            commit(
                Layout.GRANULE_SIZE,
                at(extent.getOffset() + 4, SECOND),
                at(entry, (byte) 9, (byte) 9, (byte) 9, (byte) 9))));
    assertThat(stored(extent.getOffset())).isEqualTo(FIRST);
    assertThat(stored(extent.getOffset() + 4)).isEqualTo(SECOND);
    assertThat(stored(entry)).containsOnly(9);
  }

  @Test
  void shouldNotStoreAgainWhenTheCallIsRepeated() throws Exception {
    Request first = commit(4, at(extent.getOffset(), FIRST));
    ok(writer.call(100, first));
    Reply again = writer.call(100, commit(4, at(extent.getOffset(), SECOND)));
    assertThat(again.getStatus()).isEqualTo(Status.OK);
    assertThat(stored(extent.getOffset())).isEqualTo(FIRST);
  }

  @Test
  void shouldNotTouchCommittedBytes() throws Exception {
    int at = extent.getOffset();
    ok(writer.call(commit(4, at(at, FIRST))));
    assertRefused(Status.INVALID_ARGUMENT, at, commit(8, at(at, SECOND)));
    assertRefused(Status.INVALID_ARGUMENT, at, commit(8, at(at + 3, SECOND)));
    ok(writer.call(commit(8, at(at + 4, SECOND))));
  }

  @Test
  void shouldNotTouchWhatTheFileWasNotGranted() throws Exception {
    int at = extent.getOffset();
    for (int offset :
        new int[] {
          0,
          at - 1,
          at + extent.getCapacity() - 3,
          at + extent.getCapacity(),
          at / Layout.GRANULE_SIZE * Integer.BYTES - 4,
          (at + extent.getCapacity()) / Layout.GRANULE_SIZE * Integer.BYTES,
        }) {
      assertRefused(Status.INVALID_ARGUMENT, offset, commit(4, at(offset, FIRST)));
    }
    for (int offset : new int[] {-4, Integer.MAX_VALUE - 1, Integer.MIN_VALUE}) {
      assertRefused(Status.INVALID_ARGUMENT, at, commit(4, at(offset, FIRST)));
    }
    assertRefused(
        Status.INVALID_ARGUMENT, at, commit(4, at(at, FIRST).toBuilder().setArena(7).build()));
    Request otherGeneration = commit(4, at(at, FIRST));
    assertRefused(
        Status.INVALID_ARGUMENT,
        at,
        otherGeneration.toBuilder()
            .setCommitExtents(
                otherGeneration.getCommitExtents().toBuilder()
                    .setExtents(
                        0,
                        extent.toBuilder().setLength(4).setGeneration(extent.getGeneration() + 1)))
            .build());
  }

  @Test
  void shouldNotStoreForAWriterThatLostItsLease() throws Exception {
    try (TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      ok(
          other.call(
              Request.newBuilder()
                  .setRecoverLease(RecoverLease.newBuilder().setPath("/f"))
                  .build()));
    }
    int at = extent.getOffset();
    assertRefused(Status.LEASE_LOST, at, commit(4, at(at, FIRST)));
  }
}
