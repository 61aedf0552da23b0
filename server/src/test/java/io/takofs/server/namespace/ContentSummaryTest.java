package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.layout.Layout;
import io.takofs.proto.ContentCursor;
import io.takofs.proto.ContentSummaryPart;
import io.takofs.proto.Create;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.operation.ContentSummaryQuery;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cursor that does not advance would be asked for ever. */
@Timeout(30)
class ContentSummaryTest {
  private static final int PAGE = ContentSummaryQuery.VISITS_MAX;
  private static final int DIRECTORY = ContentSummaryQuery.DIRECTORY_VISITS;

  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  /** Sums up a tree as a client does, call by call. */
  private static final class Summing {
    final Harness.Client client;
    final String path;
    final Deque<ContentCursor> remaining = new ArrayDeque<>();
    long files;
    long directories;
    long length;
    int calls;

    Summing(Harness.Client client, String path) {
      this.client = client;
      this.path = path;
      take(assertOk(client.summary(path)));
    }

    static Summing all(Harness.Client client, String path) {
      return new Summing(client, path).rest();
    }

    Summing rest() {
      while (!remaining.isEmpty()) {
        take(assertOk(next()));
      }
      return this;
    }

    Reply next() {
      GetContentSummary.Builder request =
          GetContentSummary.newBuilder().setPath(path).setCursor(remaining.pop());
      assertThat(request.build().getSerializedSize())
          .isLessThan(Layout.RPC_REQUEST_SLOT_SIZE - 1024);
      return client.summary(request);
    }

    private void take(Reply reply) {
      assertThat(reply.getSerializedSize()).isLessThan(Layout.RPC_REPLY_SLOT_SIZE - 1024);
      ContentSummaryPart part = reply.getContentSummary();
      assertThat(part.getFileCount() + DIRECTORY * part.getDirectoryCount())
          .isLessThan(PAGE + DIRECTORY);
      files += part.getFileCount();
      directories += part.getDirectoryCount();
      length += part.getLength();
      calls++;
      part.getRemainingList().forEach(remaining::push);
    }
  }

  private void files(String directory, int count) {
    for (int i = 0; i < count; i++) {
      client.create(
          Create.newBuilder()
              .setPath("%s/f%05d".formatted(directory, i))
              .setPermission(0644)
              .setCreateParents(true));
    }
  }

  @Test
  void shouldTakeAsManyCallsAsATreeIsLarge() {
    files("/a", PAGE - DIRECTORY - 1);
    Summing page = Summing.all(client, "/a");
    assertThat(page.calls).isEqualTo(1);
    assertThat(page.files).isEqualTo(PAGE - DIRECTORY - 1);
    files("/b", 2 * PAGE);
    Summing pages = Summing.all(client, "/b");
    assertThat(pages.calls).isEqualTo(3);
    assertThat(pages.files).isEqualTo(2 * PAGE);
    assertThat(pages.directories).isEqualTo(1);
    assertThat(Summing.all(client, "/").files).isEqualTo(3 * PAGE - DIRECTORY - 1);
  }

  @Test
  void shouldCountEntriesOnceWhereverAPageEnds() {
    int before = PAGE - 100;
    files("/a/b", before);
    String[] names = {"a", "a!", "a-", "a.b", "a/x", "a/x/y", "a0", "b/c/d", "b-", "b/c.", "c"};
    for (String name : names) {
      client.mkdirs("/a/c/" + name);
      client.file("/a/c/" + name + "/f", 10);
    }
    // One file more each time, so that pages end at each place after it.
    for (int i = 0; i < 120; i++) {
      client.create("/a/a" + i);
      Summing sum = Summing.all(client, "/a");
      assertThat(sum.length).as("with %s", i).isEqualTo(10L * names.length);
      assertThat(sum.files).isEqualTo(before + names.length + i + 1);
      assertThat(sum.directories).isEqualTo(server.machine.directories() - 1);
    }
  }

  @Test
  void shouldCountWhatIsDeeperThanAnyPath() {
    String chain = ("/" + "d".repeat(249)).repeat(30);
    int depth = 0;
    for (int i = 0; i < 4; i++) {
      // The content of /top moves below a new chain.
      client.mkdirs("/next" + chain);
      client.file("/next" + chain + "/f", 100);
      client.file("/next" + chain + "/z", 100);
      if (i > 0) {
        assertOk(client.rename("/top", "/next" + chain + "/top", false));
      }
      assertOk(client.rename("/next", "/top", false));
      depth += 31;
    }
    Summing sum = Summing.all(client, "/top");
    assertThat(sum.files).isEqualTo(8);
    assertThat(sum.length).isEqualTo(800);
    assertThat(sum.directories).isEqualTo(depth);
  }

  @Test
  void shouldSumUpManyDeepDirectoriesAndPagesInThem() {
    String name = "d".repeat(247);
    String deep = "/a" + ("/" + name).repeat(15);
    int count = 3 * ContentSummaryQuery.CURSORS_MAX;
    for (int i = 0; i < count; i++) {
      client.mkdirs("%s/%s%03d".formatted(deep, name, i));
      client.file("%s/%s%03d/f".formatted(deep, name, i), 0);
    }
    files(deep + "/" + name + "100/x/y", PAGE + 10);
    Summing sum = new Summing(client, "/a");
    assertThat(sum.remaining.size()).isEqualTo(ContentSummaryQuery.CURSORS_MAX);
    sum.rest();
    assertThat(sum.files).isEqualTo(PAGE + 10 + count);
    assertThat(sum.directories).isEqualTo(server.machine.directories() - 1);
  }

  @Test
  void shouldGoOnBehindADirectoryThatIsGone() {
    files("/a/b/c", PAGE);
    files("/a/d", 10);
    Summing deleted = new Summing(client, "/a");
    client.delete("/a/b", true);
    assertThat(deleted.rest().files).isBetween(PAGE - 10L, PAGE + 9L);
    assertThat(deleted.calls).isEqualTo(2);

    files("/a/b/c", PAGE);
    Summing moved = new Summing(client, "/a");
    client.rename("/a/b", "/b", false);
    long before = moved.files;
    assertThat(moved.rest().files).isEqualTo(before + 10);
  }

  @Test
  void shouldGoOnBehindADirectoryThatBecameAFile() {
    files("/a/b", PAGE);
    files("/a/d", 10);
    Summing sum = new Summing(client, "/a");
    long before = sum.files;
    client.delete("/a/b", true);
    client.file("/a/b", 1);
    assertThat(sum.rest().files).isEqualTo(before + 10);
  }

  @Test
  void shouldEndWhenTheWholeTreeIsGone() {
    files("/a/b", PAGE);
    Summing deleted = new Summing(client, "/a/b");
    client.delete("/a/b", true);
    deleted.rest();
    assertThat(deleted.calls).isEqualTo(2);
    files("/a/b", PAGE);
    Summing replaced = new Summing(client, "/a/b");
    client.delete("/a", true);
    client.file("/a", 1);
    assertThat(replaced.rest().calls).isEqualTo(2);
  }

  @Test
  void shouldCountWhatStaysWhileMuchComesAndGoes() {
    for (int i = 0; i < 3 * PAGE / 100; i++) {
      files("/a/" + i + "/stays", 50);
      files("/a/" + i + "/goes", 50);
    }
    Summing sum = new Summing(client, "/a");
    for (int i = 0; !sum.remaining.isEmpty(); i++) {
      client.delete("/a/" + i + "/goes", true);
      client.mkdirs("/a/0/new" + i);
      sum.take(assertOk(sum.next()));
    }
    long stay = 50L * (3 * PAGE / 100);
    assertThat(sum.files).isBetween(stay, 2 * stay);
    assertThat(Summing.all(client, "/a").files).isGreaterThanOrEqualTo(stay);
  }

  @Test
  void shouldCheckPermissionsOfEachPart() {
    files("/a/b", PAGE);
    client.mkdirs("/a/c", 0700);
    Harness.Client alice = server.client("alice");
    Summing sum = new Summing(alice, "/a");
    Reply refused = assertStatus(sum.next(), Status.PERMISSION_DENIED);
    assertThat(refused.getMessage()).contains("/a/c ");
    Summing first = new Summing(alice, "/a");
    client.set(io.takofs.proto.SetAttributes.newBuilder().setPath("/a/b").setPermission(0700));
    refused = assertStatus(first.next(), Status.PERMISSION_DENIED);
    assertThat(refused.getMessage()).contains("/a/b ");
    assertStatus(alice.summary("/a/b"), Status.PERMISSION_DENIED);
  }

  @Test
  void shouldCountNothingThatACursorNamesOutsideThePath() {
    client.mkdirs("/open", 0777);
    client.mkdirs("/secret", 0700);
    client.mkdirs("/secret/inner", 0777);
    client.file("/secret/inner/f", 10);
    client.file("/secret/inner/g", 10);
    client.mkdirs("/beside", 0777);
    client.file("/beside/f", 10);
    Harness.Client alice = server.client("alice");
    for (String hidden : List.of("/secret/inner", "/beside")) {
      long parent = client.stat(hidden).getFile().getParentId();
      String name = hidden.substring(hidden.lastIndexOf('/') + 1);
      ContentCursor cursor =
          ContentCursor.newBuilder()
              .setParentId(parent)
              .setName(ByteString.copyFromUtf8(name))
              .build();
      Reply reply =
          alice.summary(GetContentSummary.newBuilder().setPath("/open").setCursor(cursor));
      assertThat(reply.getContentSummary()).isEqualTo(ContentSummaryPart.getDefaultInstance());
    }
  }

  @Test
  void shouldCountNothingOfADeepDirectoryThatLeftThePath() {
    String chain = ("/" + "d".repeat(249)).repeat(30);
    client.mkdirs("/next" + chain);
    client.file("/next" + chain + "/f", 100);
    client.mkdirs("/top" + chain);
    assertOk(client.rename("/next", "/top" + chain + "/next", false));
    Summing inside = new Summing(client, "/top");
    assertThat(inside.rest().files).isEqualTo(1);
    for (boolean delete : new boolean[] {false, true}) {
      Summing sum = new Summing(client, "/top");
      assertThat(sum.remaining.peek().getName().isEmpty()).isFalse();
      String first = "/top/" + "d".repeat(249);
      assertOk(delete ? client.delete(first, true) : client.rename(first, "/elsewhere", false));
      assertThat(sum.rest().files).isZero();
      if (!delete) {
        assertOk(client.rename("/elsewhere", first, false));
      }
    }
  }

  @Test
  void shouldRefuseACursorThatItNeverGave() {
    client.mkdirs("/a");
    ByteString tooLong = ByteString.copyFromUtf8("n".repeat(256));
    for (ContentCursor cursor :
        List.of(
            ContentCursor.newBuilder().addVisited(tooLong).build(),
            ContentCursor.newBuilder().setParentId(1).setName(tooLong).build())) {
      assertStatus(
          client.summary(GetContentSummary.newBuilder().setPath("/a").setCursor(cursor)),
          Status.INVALID_ARGUMENT);
    }
  }
}
