package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.Reply;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Files asked for by id. */
class LocationTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private FileInfo file(String path, String data) {
    client.closeInline(client.opened(path), data);
    return client.info(path);
  }

  private static Reply byId(Harness.Client by, String path, FileInfo file) {
    return by.extents(
        GetExtents.newBuilder()
            .setPath(path)
            .setFileId(file.getId())
            .setById(true)
            .setParentId(file.getParentId()));
  }

  private void assertFound(String path, FileInfo file, String data) {
    Reply found = byId(client, path, file);
    assertOk(found);
    assertThat(found.getExtentMap().getFile().getId()).isEqualTo(file.getId());
    assertThat(found.getExtentMap().getInlineData().toStringUtf8()).isEqualTo(data);
  }

  @Test
  void shouldFindAFileWhereverItWasRenamedTo() {
    client.mkdirs("/a/b");
    FileInfo file = file("/a/b/f", "data");
    assertFound("/a/b/f", file, "data");
    client.rename("/a/b/f", "/a/b/g", false);
    file("/a/b/f", "other");
    assertFound("/a/b/f", file, "data");
    client.rename("/a/b/g", "/h", false);
    assertFound("/a/b/f", file, "data");
    client.rename("/h", "/a/b/f", true);
    assertFound("/a/b/f", file, "data");
  }

  @Test
  void shouldFindAFileBelowARenamedDirectory() {
    client.mkdirs("/a/b");
    FileInfo file = file("/a/b/f", "data");
    client.rename("/a", "/c", false);
    assertFound("/a/b/f", file, "data");
    assertThat(client.list("/c/b", "", 0).getListing().getParentId()).isEqualTo(file.getParentId());
    assertThat(client.list("/c/b/f", "", 0).getListing().getParentId())
        .isEqualTo(file.getParentId());
  }

  @Test
  void shouldNotFindWhatIsGone() {
    client.mkdirs("/d");
    FileInfo kept = file("/d/kept", "data");
    FileInfo renamed = file("/d/f", "data");
    client.rename("/d/f", "/d/g", false);
    client.delete("/d/g", false);
    assertStatus(byId(client, "/d/f", renamed), Status.NOT_FOUND);
    FileInfo large = client.file("/d/large", 100_000);
    client.delete("/d", true);
    server.reclaimAll();
    assertStatus(byId(client, "/d/kept", kept), Status.NOT_FOUND);
    assertStatus(byId(client, "/d/large", large), Status.NOT_FOUND);
  }

  @Test
  void shouldLetOnlyReadersOfTheFileHaveIt() {
    FileInfo file = file("/f", "data");
    client.set(SetAttributes.newBuilder().setPath("/f").setPermission(0600));
    client.rename("/f", "/g", false);
    assertStatus(byId(server.client("alice"), "/f", file), Status.PERMISSION_DENIED);
  }

  private static GetExtents.Builder goingOn(String path, FileInfo file) {
    return GetExtents.newBuilder()
        .setPath(path)
        .setFileId(file.getId())
        .setParentId(file.getParentId());
  }

  @Test
  void shouldTellAReaderThatGoesOnOnlyOfWhatItMayRead() {
    Harness.Client alice = server.client("alice");
    client.mkdirs("/d");
    client.file("/d/f", 3 << 20);
    FileInfo file = client.info("/d/f");
    assertOk(alice.extents(goingOn("/d/f", file)));
    client.rename("/d", "/e", false);
    Reply below = alice.extents(goingOn("/d/f", file));
    assertThat(below.getExtentMap().getFile()).isEqualTo(file);
    assertThat(below.getExtentMap().getExtentsList()).isEqualTo(client.extents("/e/f"));
    client.mkdirs("/d", 0700);
    assertOk(alice.extents(goingOn("/d/f", file)));
    client.set(SetAttributes.newBuilder().setPath("/e/f").setPermission(0600));
    assertStatus(alice.extents(goingOn("/d/f", file)), Status.PERMISSION_DENIED);
    assertOk(client.extents(goingOn("/d/f", file)));
    client.rename("/e/f", "/g", false);
    assertStatus(alice.extents(goingOn("/d/f", file)), Status.PERMISSION_DENIED);
    assertStatus(
        alice.extents(GetExtents.newBuilder().setPath("/x").setFileId(file.getId())),
        Status.PERMISSION_DENIED);
  }

  @Test
  void shouldTellNobodyOfAFileWhoseIdIsGuessed() {
    client.mkdirs("/d", 0700);
    client.file("/d/f", 3 << 20);
    FileInfo file = client.info("/d/f");
    assertStatus(
        server
            .client("alice")
            .extents(GetExtents.newBuilder().setPath("/x").setFileId(file.getId())),
        Status.NOT_FOUND);
  }

  @Test
  void shouldShowADeletedFileToItsReadersUntilItIsReclaimed() {
    client.file("/f", 6 << 20);
    FileInfo file = client.info("/f");
    client.delete("/f", false);
    Reply left = client.extents(goingOn("/f", file));
    assertThat(left.getExtentMap().getExtentsList()).isNotEmpty();
    assertThat(left.getExtentMap().getFile().getLength()).isEqualTo(file.getLength());
    assertStatus(byId(client, "/f", file), Status.NOT_FOUND);
    server.reclaimAll();
    assertStatus(client.extents(goingOn("/f", file)), Status.NOT_FOUND);
  }
}
