package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.CloseSlab;
import io.takofs.proto.Extent;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.store.PagedStores;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A slab in which many files grow, in a store of few pages. */
class SlabCloseTest {
  private static final int FILES = 250;

  private final Harness harness =
      new Harness(new PagedStores(2048).open(), List.of((long) Layout.SLAB_SIZE));
  private final Harness.Client root = harness.superuser();
  private final List<OpenedFile> files = new ArrayList<>();
  private final List<Extent> extents = new ArrayList<>();

  private void checkpointIfDue() {
    if (harness.store.checkpointDue()) {
      harness.store.checkpoint(harness.log.size());
    }
  }

  private Slab slab() {
    return harness.machine.slabs().all().iterator().next();
  }

  private Reply close() {
    return harness.apply(
        LogEntry.newBuilder()
            .setCloseSlab(
                CloseSlab.newBuilder().setId(slab().getId()).setVersion(slab().getVersion())));
  }

  private void growFiles() {
    for (int i = 0; i < FILES; i++) {
      OpenedFile file = root.opened("/f" + i);
      Extent extent = root.granted(file, 1);
      root.committed(commit(file).setLength(100).addExtents(written(extent, 0, 100)));
      files.add(file);
      extents.add(extent);
      checkpointIfDue();
    }
  }

  /** Makes directories until there is no room for metadata. */
  private void fill() {
    for (int i = 0; ; i++) {
      String path = "/d" + i % 50 + "n".repeat(100) + "/" + "n".repeat(100) + i;
      Request request =
          Request.newBuilder()
              .setMkdirs(
                  Mkdirs.newBuilder().setPath(path).setPermission(0755).setCreateParents(true))
              .build();
      if (harness.machine.refusal(request) != null) {
        return;
      }
      assertOk(root.call(request.toBuilder()));
      checkpointIfDue();
    }
  }

  @Test
  void shouldCloseThoughManyFilesGrowThereAndThereIsNoRoomForMetadata() {
    growFiles();
    fill();
    for (int entries = 0; !slab().getClosed(); entries++) {
      assertThat(entries).isLessThan(FILES);
      assertOk(close());
      checkpointIfDue();
    }
    for (int i = 0; i < FILES; i++) {
      assertStatus(
          root.commit(
              commit(files.get(i)).setLength(200).addExtents(written(extents.get(i), 0, 200))),
          Status.STALE_VERSION);
    }
    assertThat(root.info("/f0").getLength()).isEqualTo(100);
  }

  @Test
  void shouldCloseAtOnceWhenFewFilesGrowThere() {
    OpenedFile file = root.opened("/f");
    Extent extent = root.granted(file, 1);
    root.committed(commit(file).setLength(100).addExtents(written(extent, 0, 100)));
    assertOk(close());
    assertThat(slab().getClosed()).isTrue();
  }
}
