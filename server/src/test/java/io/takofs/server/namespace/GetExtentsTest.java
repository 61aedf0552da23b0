package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GetExtentsTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  @Test
  void shouldPageTheExtentsOfALongFile() {
    client.file("/f", 6L << 20);
    List<Extent> all = client.extents("/f");
    assertThat(all).hasSize(6);
    Reply page =
        client.extents(GetExtents.newBuilder().setPath("/f").setOffset((2 << 20) + 1).setLimit(2));
    assertThat(page.getExtentMap().getExtentsList()).isEqualTo(all.subList(2, 4));
    assertThat(page.getExtentMap().getMore()).isTrue();
    page = client.extents(GetExtents.newBuilder().setPath("/f").setOffset(5 << 20).setLimit(2));
    assertThat(page.getExtentMap().getExtentsList()).isEqualTo(all.subList(5, 6));
    assertThat(page.getExtentMap().getMore()).isFalse();
    page = client.extents(GetExtents.newBuilder().setPath("/f").setOffset(6 << 20));
    assertThat(page.getExtentMap().getExtentsCount()).isZero();
  }

  @Test
  void shouldFindTheExtentsOfAnOpenFileByItsIdWhateverItsName() {
    client.file("/f", 3L << 20);
    FileInfo info = client.info("/f");
    List<Extent> all = client.extents("/f");
    GetExtents.Builder request =
        GetExtents.newBuilder().setPath("/f").setFileId(info.getId()).setOffset(1 << 20);
    assertThat(client.extents(request).getExtentMap().getFile()).isEqualTo(info);
    client.rename("/f", "/g", false);
    client.file("/f", 10);
    Reply found = assertOk(client.extents(request));
    assertThat(found.getExtentMap().getFile()).isEqualTo(info);
    assertThat(found.getExtentMap().getExtentsList()).isEqualTo(all.subList(1, 3));
    client.delete("/g", false);
    server.reclaimAll();
    assertStatus(client.extents(request), Status.NOT_FOUND);
    OpenedFile opened = client.opened("/h");
    client.rename("/h", "/i", false);
    assertThat(
            client
                .extents(GetExtents.newBuilder().setPath("/h").setFileId(opened.getFile().getId()))
                .getExtentMap()
                .getFile()
                .getUnderConstruction())
        .isTrue();
  }
}
