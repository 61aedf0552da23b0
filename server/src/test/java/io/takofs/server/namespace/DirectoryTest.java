package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Create;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.rpc.ListingReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectoryTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @Test
  void shouldHaveARootInAnEmptyStore() {
    FileInfo root = client.info("/");
    assertThat(root.getId()).isEqualTo(1);
    assertThat(root.getType()).isEqualTo(FileType.DIRECTORY);
    assertThat(root.getPermission()).isEqualTo(0755);
    assertThat(root.getOwner()).isEqualTo(Harness.SUPERUSER);
    assertThat(root.getGroup()).isEqualTo("supergroup");
    assertThat(client.names("/")).isEmpty();
  }

  @Test
  void shouldMakeMissingParents() {
    assertOk(client.mkdirs("/a/b/c", 0500));
    assertThat(client.info("/a/b/c").getPermission()).isEqualTo(0500);
    // Their maker must be able to make what is below them.
    assertThat(client.info("/a/b").getPermission()).isEqualTo(0700);
    assertThat(client.names("/a")).containsExactly("b");
    assertThat(server.machine.directories()).isEqualTo(4);
  }

  @Test
  void shouldLeaveAnExistingDirectoryAlone() {
    assertOk(client.mkdirs("/a", 0700));
    assertOk(client.mkdirs("/a", 0777));
    assertOk(client.mkdirs("/"));
    assertThat(client.info("/a").getPermission()).isEqualTo(0700);
  }

  @Test
  void shouldNotMakeParentsUnasked() {
    Request.Builder request =
        Request.newBuilder().setMkdirs(Mkdirs.newBuilder().setPath("/a/b").setPermission(0755));
    assertStatus(client.call(request), Status.NOT_FOUND);
    assertThat(client.names("/")).isEmpty();
  }

  @Test
  void shouldNotMakeADirectoryOverOrBelowAFile() {
    client.file("/f", 0);
    assertStatus(client.mkdirs("/f"), Status.ALREADY_EXISTS);
    assertStatus(client.mkdirs("/f/a"), Status.NOT_A_DIRECTORY);
    assertStatus(client.mkdirs("/f/a/b"), Status.NOT_A_DIRECTORY);
    assertStatus(client.stat("/f/a"), Status.NOT_A_DIRECTORY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "a/b", "//", "/a/", "/a//b", "/.", "/a/../b", "/a\0b"})
  void shouldRefuseWhatIsNoPath(String path) {
    assertStatus(client.mkdirs(path), Status.INVALID_ARGUMENT);
    assertStatus(client.stat(path), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldLimitNamesInBytes() {
    assertOk(client.mkdirs("/" + "n".repeat(255)));
    assertStatus(client.mkdirs("/" + "n".repeat(256)), Status.INVALID_ARGUMENT);
    assertOk(client.mkdirs("/" + "\u00e9".repeat(127)));
    Reply refused =
        assertStatus(client.mkdirs("/" + "\u00e9".repeat(128)), Status.INVALID_ARGUMENT);
    assertThat(refused.getMessage()).contains("256 bytes");
  }

  @Test
  void shouldLimitPathsInBytesAndDepth() {
    assertStatus(client.stat("/" + "n".repeat(100) + "/n".repeat(4000)), Status.INVALID_ARGUMENT);
    assertStatus(client.stat("/n".repeat(1001)), Status.INVALID_ARGUMENT);
    assertStatus(client.stat("/n".repeat(1000)), Status.NOT_FOUND);
    assertStatus(client.mkdirs("/n".repeat(61)), Status.INVALID_ARGUMENT);
    assertOk(client.mkdirs("/n".repeat(60)));
    assertOk(client.mkdirs("/n".repeat(120)));
  }

  @Test
  void shouldKeepADirectorysTimeOfChange() {
    client.mkdirs("/a");
    long made = client.info("/a").getModificationTimeMs();
    assertThat(made).isEqualTo(server.timeMs);
    client.mkdirs("/a/b");
    assertThat(client.info("/a").getModificationTimeMs()).isEqualTo(server.timeMs);
    client.mkdirs("/a/b/c");
    assertThat(client.info("/a").getModificationTimeMs()).isEqualTo(server.timeMs - 1);
    client.rename("/a/b", "/b", false);
    assertThat(client.info("/a").getModificationTimeMs()).isEqualTo(server.timeMs);
    assertThat(client.info("/").getModificationTimeMs()).isEqualTo(server.timeMs);
    assertThat(Listed.of(client.list("/", "", 0)).get(0).modificationMs()).isEqualTo(server.timeMs);
    client.mkdirs("/a/d");
    client.delete("/a/d", false);
    assertThat(client.info("/a").getModificationTimeMs()).isEqualTo(server.timeMs);
  }

  @Test
  void shouldListInOrderAndInPages() {
    List<String> names = new ArrayList<>();
    for (int i = 100; i < 200; i++) {
      names.add("n" + i);
    }
    for (int i = names.size() - 1; i >= 0; i--) {
      client.mkdirs("/d/" + names.get(i));
    }
    assertThat(client.names("/d")).isEqualTo(names);
    List<String> paged = new ArrayList<>();
    Reply page;
    do {
      page = client.list("/d", paged.isEmpty() ? "" : paged.get(paged.size() - 1), 7);
      assertThat(Listed.names(page)).hasSizeBetween(1, 7);
      paged.addAll(Listed.names(page));
    } while (page.getListing().getMore());
    assertThat(paged).isEqualTo(names);
  }

  @Test
  void shouldGoOnListingBehindANameThatIsGone() {
    for (String name : List.of("a", "b", "c", "cc", "d")) {
      client.mkdirs("/d/" + name);
    }
    client.delete("/d/c", false);
    assertThat(Listed.names(client.list("/d", "c", 1))).containsExactly("cc");
    assertThat(Listed.of(client.list("/d", "d", 0))).isEmpty();
  }

  @Test
  void shouldKeepAPageWithinAReplySlot() {
    String name = "n".repeat(240);
    for (int i = 100; i < 400; i++) {
      client.mkdirs("/d/" + name + i);
    }
    Reply page = client.list("/d", "", 100_000);
    assertThat(page.getSerializedSize()).isLessThan(65536 - 32);
    assertThat(page.getListing().getMore()).isTrue();
    assertThat(Listed.of(page)).hasSizeGreaterThan(100);
  }

  @Test
  void shouldListAFileAsItself() {
    client.file("/f", 5);
    Reply listed = assertOk(client.list("/f", "", 10));
    assertThat(Listed.of(listed)).hasSize(1);
    assertThat(Listed.names(listed)).containsExactly("");
    assertThat(Listed.of(listed).get(0).length()).isEqualTo(5);
    assertStatus(client.list("/g", "", 10), Status.NOT_FOUND);
  }

  @Test
  void shouldListEntriesAsTheyAre() throws TakoException {
    client.mkdirs("/d/a", 01751);
    client.file("/d/b", 70_000);
    assertOk(client.set(SetAttributes.newBuilder().setPath("/d/b").setOwner("ann")));
    client.opened("/d/c");
    ListingReader page = new ListingReader(client.list("/d", "", 0).getListing());
    for (String name : List.of("a", "b", "c")) {
      page.next();
      assertThat(page.name()).isEqualTo(name);
      FileInfo listed =
          FileInfo.newBuilder()
              .setId(page.id())
              .setType(page.directory() ? FileType.DIRECTORY : FileType.FILE)
              .setLength(page.length())
              .setPermission(page.permission())
              .setOwner(page.owner())
              .setGroup(page.group())
              .setModificationTimeMs(page.modificationTimeMs())
              .setAccessTimeMs(page.accessTimeMs())
              .setReplication(page.replication())
              .setBlockSize(page.blockSize())
              .setUnderConstruction(page.underConstruction())
              .setVersion(page.version())
              .setParentId(page.parentId())
              .build();
      assertThat(listed).isEqualTo(client.info("/d/" + name));
    }
    assertThat(page.hasNext()).isFalse();
    assertThat(page.more()).isFalse();
  }

  @Test
  void shouldSumUpATree() {
    client.mkdirs("/a/b");
    client.file("/a/f", 100);
    client.file("/a/b/g", 200_000);
    client.create(Create.newBuilder().setPath("/a/b/h").setPermission(0644).setReplication(3));
    Reply summary = assertOk(client.summary("/a"));
    assertThat(summary.getContentSummary().getLength()).isEqualTo(200_100);
    assertThat(summary.getContentSummary().getFileCount()).isEqualTo(3);
    assertThat(summary.getContentSummary().getDirectoryCount()).isEqualTo(2);
    assertThat(client.summary("/a/f").getContentSummary().getFileCount()).isEqualTo(1);
    assertStatus(client.summary("/x"), Status.NOT_FOUND);
  }

  // ---- delete -----------------------------------------------------------------------------------

  @Test
  void shouldDeleteAnEmptyDirectoryAndAFile() {
    client.mkdirs("/a");
    client.file("/f", 10);
    assertOk(client.delete("/a", false));
    assertOk(client.delete("/f", false));
    assertThat(client.names("/")).isEmpty();
    assertStatus(client.delete("/a", true), Status.NOT_FOUND);
    assertStatus(client.delete("/", true), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldDeleteWhatIsBelowOnlyWhenAsked() {
    client.mkdirs("/a/b");
    assertStatus(client.delete("/a", false), Status.NOT_EMPTY);
    assertOk(client.delete("/a", true));
    assertStatus(client.stat("/a/b"), Status.NOT_FOUND);
  }

  @Test
  void shouldReclaimADetachedTreePieceByPiece() {
    long free = server.free();
    for (int i = 0; i < 20; i++) {
      client.mkdirs("/a/" + i + "/x/y");
      client.file("/a/" + i + "/x/f", 70_000);
      client.closeInline(client.opened("/a/" + i + "/x/g"), "small");
    }
    int steps = 0;
    client.delete("/a", true);
    assertThat(client.names("/")).isEmpty();
    client.mkdirs("/a");
    while (server.machine.reclaimPending()) {
      assertOk(server.reclaim(3));
      Consistency.check(server);
      steps++;
    }
    assertThat(steps).isGreaterThan(20);
    assertThat(server.machine.files()).isZero();
    assertThat(server.machine.directories()).isEqualTo(2);
    assertThat(server.free()).isLessThan(free);
    server.freeAll();
    assertThat(server.free()).isEqualTo(free);
  }

  // ---- rename -----------------------------------------------------------------------------------

  @Test
  void shouldRenameADirectoryWithEverythingBelow() {
    client.mkdirs("/a/b/c");
    client.file("/a/b/f", 1000);
    FileInfo before = client.info("/a/b/f");
    client.mkdirs("/x");
    assertOk(client.rename("/a/b", "/x/y", false));
    assertThat(client.info("/x/y/f")).isEqualTo(before);
    assertThat(client.names("/x/y")).containsExactly("c", "f");
    assertStatus(client.stat("/a/b"), Status.NOT_FOUND);
  }

  @Test
  void shouldRefuseImpossibleRenames() {
    client.mkdirs("/a/b");
    client.file("/f", 1);
    assertStatus(client.rename("/", "/x", false), Status.INVALID_ARGUMENT);
    assertStatus(client.rename("/a", "/", true), Status.INVALID_ARGUMENT);
    assertStatus(client.rename("/a", "/a/b/c", true), Status.INVALID_ARGUMENT);
    assertStatus(client.rename("/a", "/a", true), Status.ALREADY_EXISTS);
    assertStatus(client.rename("/x", "/y", false), Status.NOT_FOUND);
    assertStatus(client.rename("/a", "/x/y", false), Status.NOT_FOUND);
    assertStatus(client.rename("/a", "/f/y", false), Status.NOT_A_DIRECTORY);
    assertOk(client.rename("/a", "/ab", false));
    assertOk(client.rename("/ab", "/a", false));
  }

  @Test
  void shouldReplaceOnlyWhenAskedAndOnlyTheLikes() {
    client.mkdirs("/d");
    client.mkdirs("/e/x");
    client.mkdirs("/empty");
    client.file("/f", 70_000);
    client.file("/g", 80_000);
    assertStatus(client.rename("/f", "/g", false), Status.ALREADY_EXISTS);
    assertStatus(client.rename("/d", "/f", true), Status.NOT_A_DIRECTORY);
    assertStatus(client.rename("/f", "/d", true), Status.IS_A_DIRECTORY);
    assertStatus(client.rename("/d", "/e", true), Status.NOT_EMPTY);
    assertStatus(client.rename("/d", "/empty", false), Status.ALREADY_EXISTS);
    assertOk(client.rename("/e", "/empty", true));
    assertThat(client.names("/empty")).containsExactly("x");
    assertOk(client.rename("/f", "/g", true));
    assertThat(client.info("/g").getLength()).isEqualTo(70_000);
    assertThat(client.names("/")).containsExactly("d", "empty", "g");
    assertThat(server.machine.files()).isEqualTo(1);
    Consistency.check(server);
  }
}
