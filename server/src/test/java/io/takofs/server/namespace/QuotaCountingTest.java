package io.takofs.server.namespace;

import static io.takofs.server.namespace.QuotaCalls.assertExceeded;
import static io.takofs.server.namespace.QuotaCalls.set;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.GetQuota;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Counting what is below a quota, large trees in steps. */
class QuotaCountingTest {
  private static final long NONE = Quota.NONE;
  private static final long UNIT = 65536;
  private static final long TREE_NAMES = 1 + 1 + 2 * 150 + 29;

  private final Harness server = new Harness();
  private final Harness.Client root = server.superuser();
  private final QuotaCalls quotas = new QuotaCalls(server, root);

  @BeforeEach
  void makeDirectory() {
    assertOk(root.mkdirs("/q"));
  }

  /** Counts everything anew, whatever a test did. */
  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private void makeTree(String path) {
    for (int i = 0; i < 150; i++) {
      assertOk(root.mkdirs(path + "/wide/d" + i));
      root.closeInline(root.opened(path + "/wide/d" + i + "/f"), "1234567890");
    }
    assertOk(root.mkdirs(path + "/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x"));
  }

  @Test
  void shouldCountALargeTreeInStepsBetweenWhichNothingInItChanges() {
    makeTree("/q");
    assertOk(root.mkdirs("/q/wide/d7/own/below"));
    assertOk(set(root, "/q/wide/d7/own", 10, NONE));
    OpenedFile open = root.opened("/q/wide/d7/own/open");
    assertOk(root.grant(open, UNIT));
    assertOk(set(root, "/q", 10_000, NONE));
    assertThat(server.machine.countPending()).isTrue();
    assertStatus(root.grant(open, 1), Status.UNAVAILABLE);
    assertStatus(root.create("/q/wide/d7/f2"), Status.UNAVAILABLE);
    assertStatus(root.mkdirs("/q/wide/d7/own/more"), Status.UNAVAILABLE);
    assertStatus(root.delete("/q/wide/d7/f", false), Status.UNAVAILABLE);
    assertStatus(root.deleteFiles("/q/wide", List.of("d7/f", "d8/f")), Status.UNAVAILABLE);
    assertStatus(root.rename("/q/wide/d7/f", "/q/f", false), Status.UNAVAILABLE);
    assertStatus(root.rename("/q/wide/d7/f", "/f", false), Status.UNAVAILABLE);
    assertStatus(set(root, "/q", 20_000, NONE), Status.UNAVAILABLE);
    assertStatus(set(root, "/q", NONE, NONE), Status.UNAVAILABLE);
    assertStatus(root.delete("/q", true), Status.UNAVAILABLE);
    assertStatus(server.expireSession(root.id), Status.UNAVAILABLE);
    assertStatus(
        root.query(Request.newBuilder().setGetQuota(GetQuota.newBuilder().setPath("/q"))),
        Status.UNAVAILABLE);
    assertOk(root.stat("/q/wide"));
    int steps = 0;
    while (server.machine.countPending()) {
      Consistency.check(server);
      server.restart();
      assertOk(quotas.count());
      steps++;
    }
    assertThat(steps).isBetween(3, 50);
    quotas.assertUsed("/q", TREE_NAMES + 3, 1500 + UNIT);
    assertOk(root.create("/q/elsewhere"));
    assertOk(quotas.count());
  }

  @Test
  void shouldChangeAllElseWhileALargeTreeIsCounted() {
    makeTree("/tree");
    makeTree("/other");
    makeTree("/gone");
    assertOk(set(root, "/q", 10_000, NONE));
    OpenedFile open = root.opened("/q/open");
    assertOk(root.delete("/gone", true));
    assertStatus(root.rename("/tree", "/q/tree", false), Status.UNAVAILABLE);
    assertThat(server.machine.countPending()).isTrue();
    assertOk(root.create("/elsewhere"));
    assertOk(root.create("/q/f"));
    assertOk(root.grant(open, 1));
    assertOk(root.rename("/q/f", "/f", false));
    assertOk(root.deleteFiles("/", List.of("f", "elsewhere")));
    assertOk(root.mkdirs("/small/a/b"));
    // Small directories may be counted, large ones have to wait.
    assertOk(root.rename("/small", "/q/small", false));
    assertOk(set(root, "/q/small", 10, NONE));
    assertStatus(root.rename("/other", "/q/other", false), Status.UNAVAILABLE);
    assertOk(root.rename("/other", "/another", false));
    while (server.machine.reclaimPending()) {
      assertOk(server.reclaim(10));
    }
    Consistency.check(server);
    Harness.Client ann = server.client("ann");
    assertOk(server.expireSession(ann.id));
    countAll();
    assertOk(root.rename("/tree", "/q/tree", false));
    Consistency.check(server);
  }

  @Test
  void shouldReclaimADirectoryThatIsCountedWhenThatIsDone() {
    assertOk(root.mkdirs("/above"));
    makeTree("/above/tree");
    assertOk(set(root, "/q", 10_000, NONE));
    assertStatus(root.rename("/above/tree", "/q/tree", false), Status.UNAVAILABLE);
    assertOk(root.delete("/above", true));
    assertStatus(server.reclaim(1000), Status.UNAVAILABLE);
    Consistency.check(server);
    countAll();
    server.reclaimAll();
    Consistency.check(server);
    assertThat(server.machine.directories()).isEqualTo(2);
  }

  @Test
  void shouldCountALargeTreeBeforeItMovesUnderAQuota() {
    makeTree("/tree");
    assertOk(set(root, "/q", TREE_NAMES, NONE));
    // Nothing happens to what is to be replaced, either.
    assertOk(root.mkdirs("/q/empty"));
    assertStatus(root.rename("/tree", "/q/empty", true), Status.UNAVAILABLE);
    assertOk(root.stat("/q/empty"));
    Consistency.check(server);
    countAll();
    assertThat(hasRecord("/tree")).isTrue();
    assertExceeded(root.rename("/tree", "/q/tree", false));
    assertThat(hasRecord("/tree")).as("left by a rename that failed").isFalse();
    assertOk(root.delete("/q/empty", false));
    assertStatus(root.rename("/tree", "/q/tree", false), Status.UNAVAILABLE);
    countAll();
    assertExceeded(root.rename("/tree", "/q/tree", false));
    assertThat(quotas.get("/tree").hasNamesUsed()).isFalse();
    assertOk(set(root, "/q", TREE_NAMES + 1, NONE));
    assertStatus(root.rename("/tree", "/q/tree", false), Status.UNAVAILABLE);
    countAll();
    assertOk(root.rename("/tree", "/q/tree", false));
    quotas.assertUsed("/q", TREE_NAMES + 1, 1500);
    assertExceeded(root.create("/q/tree/x/y"));
  }

  @Test
  void shouldNotKeepManyQuotasOfRenamesThatWereGivenUp() {
    assertOk(set(root, "/q", 10_000, NONE));
    int given = QuotaTable.IDLE_MAX + 3;
    for (int i = 0; i < given; i++) {
      for (int part = 0; part < 2; part++) {
        assertOk(root.mkdirs("/t" + i + "/" + part + "/x".repeat(50)));
      }
      assertStatus(root.rename("/t" + i, "/q/t" + i, false), Status.UNAVAILABLE);
      countAll();
    }
    long kept = 0;
    for (int i = 0; i < given; i++) {
      kept += hasRecord("/t" + i) ? 1 : 0;
    }
    assertThat(kept).isEqualTo(QuotaTable.IDLE_MAX + 1);
    assertOk(root.rename("/t" + (given - 1), "/q/t", false));
    quotas.assertUsed("/q", 1 + 103, 0);
    Consistency.check(server);
  }

  private void countAll() {
    while (server.machine.countPending()) {
      assertOk(quotas.count());
    }
  }

  private boolean hasRecord(String path) {
    return server.store.server().get(Keys.of(Keys.QUOTA, root.info(path).getId())) != null;
  }
}
