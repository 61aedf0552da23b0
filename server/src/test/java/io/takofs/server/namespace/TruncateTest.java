package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.namespace.operation.TruncateOperation;
import io.takofs.server.store.HeapStore;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TruncateTest {
  private static final int UNIT = 65536;

  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private Truncate.Builder truncate(long length) {
    FileInfo info = client.info("/f");
    return Truncate.newBuilder()
        .setPath("/f")
        .setLength(length)
        .setExpectedVersion(info.getVersion());
  }

  @Test
  void shouldCutInlineData() {
    client.closeInline(client.opened("/f"), "hello");
    assertOk(client.truncate(truncate(2)));
    assertThat(
            client
                .extents(GetExtents.newBuilder().setPath("/f"))
                .getExtentMap()
                .getInlineData()
                .toStringUtf8())
        .isEqualTo("he");
    FileInfo cut = assertOk(client.truncate(truncate(0))).getFile();
    assertThat(cut.getLength()).isZero();
    assertThat(cut.getModificationTimeMs()).isEqualTo(server.timeMs);
  }

  @Test
  void shouldCutInsideAnExtentWithTheCallersChecksums() {
    long free = server.free();
    client.file("/f", 3L << 20);
    List<Extent> extents = client.extents("/f");
    assertThat(extents).hasSize(3);
    int kept = (1 << 20) + 5000;
    Extent cut = written(extents.get(1), 1 << 20, 5000);
    assertStatus(client.truncate(truncate(kept)), Status.INVALID_ARGUMENT);
    assertStatus(
        client.truncate(truncate(kept).setLastExtent(written(extents.get(1), 1 << 20, 5001))),
        Status.INVALID_ARGUMENT);
    assertStatus(
        client.truncate(truncate(kept).setLastExtent(written(extents.get(0), 1 << 20, 5000))),
        Status.STALE_VERSION);
    FileInfo info = assertOk(client.truncate(truncate(kept).setLastExtent(cut))).getFile();
    assertThat(info.getLength()).isEqualTo(kept);
    assertThat(client.extents("/f")).containsExactly(extents.get(0), cut);
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10)).hasSize(1);
    // Readers may still look at what was cut off: it is not written over in place.
    OpenedFile opened = client.append("/f").getOpenedFile();
    assertThat(opened.hasLastExtent()).isFalse();
    Extent next = client.granted(opened, 1);
    client.committed(
        commit(opened)
            .addExtents(written(next, kept, 10))
            .setLength(kept + 10)
            .setClose(true)
            .setAllWritesCompleted(true));
    assertOk(client.truncate(truncate(0)));
    assertThat(client.extents("/f")).isEmpty();
    server.reclaimAll();
    assertThat(server.free()).isEqualTo(free);
  }

  @Test
  void shouldCutInlineBytesAfterExtents() {
    OpenedFile opened = client.opened("/f");
    Extent written = written(client.granted(opened, 1), 0, 3000);
    client.committed(
        commit(opened)
            .addExtents(written)
            .setInlineData(ByteString.copyFromUtf8("tail"))
            .setLength(3004)
            .setClose(true)
            .setAllWritesCompleted(true));
    for (long length : new long[] {3003, 3000}) {
      assertOk(client.truncate(truncate(length)));
      ExtentMap map = client.extents(GetExtents.newBuilder().setPath("/f")).getExtentMap();
      assertThat(map.getInlineData().toStringUtf8())
          .isEqualTo("tail".substring(0, (int) length - 3000));
      assertThat(map.getExtentsList()).containsExactly(written);
      assertThat(map.getFile().getLength()).isEqualTo(length);
    }
    Consistency.check(server);
  }

  @Test
  void shouldCutInlineBytesWithTheExtentsBefore() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    client.committed(
        commit(opened)
            .addExtents(written(grant, 0, 3000))
            .setInlineData(ByteString.copyFromUtf8("tail"))
            .setLength(3004)
            .setClose(true)
            .setAllWritesCompleted(true));
    assertOk(client.truncate(truncate(2000).setLastExtent(written(grant, 0, 2000))));
    ExtentMap map = client.extents(GetExtents.newBuilder().setPath("/f")).getExtentMap();
    assertThat(map.getInlineData()).isEmpty();
    assertThat(map.getExtentsList()).containsExactly(written(grant, 0, 2000));
    assertOk(client.delete("/f", false));
    Consistency.check(server);
  }

  @Test
  void shouldCutBetweenTwoExtents() {
    client.file("/f", 3L << 20);
    List<Extent> extents = client.extents("/f");
    assertOk(client.truncate(truncate(2L << 20)));
    assertThat(client.extents("/f")).isEqualTo(extents.subList(0, 2));
    assertOk(client.truncate(truncate(2L << 20)));
  }

  @Test
  void shouldCutAFileOfManyExtentsPieceByPiece() {
    Harness large = new Harness(new HeapStore(Long.MAX_VALUE), Collections.nCopies(5, 1L << 30));
    Harness.Client writer = large.superuser();
    FileInfo info = writer.fileOfExtents("/f", TruncateOperation.EXTENTS_MAX + 100);
    long resting = 0;
    int steps = 0;
    while (info.getLength() > UNIT) {
      Truncate.Builder cut =
          Truncate.newBuilder()
              .setPath("/f")
              .setLength(UNIT)
              .setExpectedVersion(info.getVersion())
              .setLastExtent(written(writer.extents("/f").get(0), 0, UNIT));
      info = assertOk(writer.truncate(cut)).getFile();
      long now = large.machine.quarantined(Long.MAX_VALUE, Integer.MAX_VALUE).size();
      assertThat(now - resting).isBetween(1L, (long) TruncateOperation.EXTENTS_MAX);
      resting = now;
      steps++;
      Consistency.check(large);
    }
    assertThat(steps).isBetween(2, 4);
    assertThat(info.getLength()).isEqualTo(UNIT);
    assertThat(writer.extents("/f")).hasSize(1);
  }

  @Test
  void shouldRefuseToCutWhatChangedOrCannotBeCut() {
    client.file("/f", 1L << 20);
    assertStatus(client.truncate(truncate((1L << 20) + 1)), Status.INVALID_ARGUMENT);
    assertStatus(client.truncate(truncate(-1)), Status.INVALID_ARGUMENT);
    Truncate.Builder planned = truncate(0);
    client.commit(commit(client.append("/f").getOpenedFile()).setLength(1 << 20).setClose(true));
    assertStatus(client.truncate(planned), Status.STALE_VERSION);
    client.mkdirs("/d");
    assertStatus(client.truncate(Truncate.newBuilder().setPath("/d")), Status.IS_A_DIRECTORY);
  }
}
