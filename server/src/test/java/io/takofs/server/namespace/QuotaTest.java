package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.CountQuotas;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.GetQuota;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.QuotaStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.store.OrderedMap;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QuotaTest {
  private static final long NONE = Quota.NONE;
  private static final long UNIT = 65536;

  private final Harness server = new Harness();
  private final Harness.Client root = server.superuser();

  @BeforeEach
  void makeDirectory() {
    assertOk(root.mkdirs("/q"));
  }

  /** Counts everything anew, whatever a test did. */
  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private static Reply set(Harness.Client client, String path, long names, long space) {
    return client.call(
        Request.newBuilder()
            .setSetQuota(SetQuota.newBuilder().setPath(path).setNames(names).setSpace(space)));
  }

  private QuotaStatus get(String path) {
    return assertOk(
            root.query(Request.newBuilder().setGetQuota(GetQuota.newBuilder().setPath(path))))
        .getQuota();
  }

  private void assertUsed(String path, long names, long space) {
    QuotaStatus quota = get(path);
    assertThat(quota.hasNamesUsed()).isTrue();
    assertThat(quota.getNamesUsed()).as("names").isEqualTo(names);
    assertThat(quota.getSpaceUsed()).as("space").isEqualTo(space);
  }

  private static Reply assertExceeded(Reply reply) {
    return assertStatus(reply, Status.QUOTA_EXCEEDED);
  }

  private Reply count() {
    return server.apply(LogEntry.newBuilder().setCountQuotas(CountQuotas.getDefaultInstance()));
  }

  // ---- names

  @Test
  void shouldAllowSoManyNamesAndNotOneMore() {
    assertOk(set(root, "/q", 4, NONE));
    assertUsed("/q", 1, 0);
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/f", 10);
    assertUsed("/q", 4, 10);
    Reply reply = assertExceeded(root.create("/q/g"));
    assertThat(reply.getMessage()).contains("/q", "quota=4", "directories=5");
    assertExceeded(root.mkdirs("/q/a/b/c"));
    root.file("/f", 1);
    assertExceeded(root.rename("/f", "/q/f", false));
    // An operation that adds no names is allowed.
    assertOk(root.mkdirs("/q/a"));
    assertOk(root.rename("/q/a/f", "/q/f", false));
    root.closeInline(assertOk(root.create(overwriting("/q/f"))).getOpenedFile(), "x");
    assertOk(root.rename("/f", "/q/f", true));
    assertOk(root.delete("/q/f", false));
    assertOk(root.create("/q/g"));
    assertUsed("/q", 4, 0);
  }

  private static Create.Builder overwriting(String path) {
    return Create.newBuilder().setPath(path).setOverwrite(true);
  }

  @Test
  void shouldMakeAllDirectoriesOrNone() {
    assertOk(set(root, "/q", 3, NONE));
    assertExceeded(root.mkdirs("/q/a/b/c"));
    assertThat(root.names("/q")).isEmpty();
    assertExceeded(root.create(Create.newBuilder().setPath("/q/a/b/f").setCreateParents(true)));
    assertThat(root.names("/q")).isEmpty();
    assertUsed("/q", 1, 0);
    assertOk(root.create(Create.newBuilder().setPath("/q/a/f").setCreateParents(true)));
    assertUsed("/q", 3, 0);
  }

  @Test
  void shouldTakeALimitBelowWhatThereIs() {
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/f", 100);
    assertOk(set(root, "/q", 1, 0));
    assertUsed("/q", 4, 100);
    assertExceeded(root.create("/q/g"));
    assertExceeded(root.grant(assertOk(root.append("/q/a/f")).getOpenedFile(), 1));
    assertOk(root.rename("/q/a/f", "/q/a/b/f", false));
    assertOk(root.set(SetAttributes.newBuilder().setPath("/q/a/b/f").setPermission(0600)));
    assertOk(root.delete("/q/a/b/f", false));
    assertUsed("/q", 3, 0);
  }

  // ---- space

  @Test
  void shouldGrantNoMoreThanFits() {
    assertOk(set(root, "/q", NONE, 5 * UNIT + 1));
    OpenedFile file = assertOk(root.create("/q/f")).getOpenedFile();
    Reply granted = assertOk(root.grant(file, 100 * UNIT));
    assertUsed("/q", 2, 5 * UNIT);
    assertExceeded(root.grant(file, 1));
    assertExceeded(root.grant(assertOk(root.create("/q/g")).getOpenedFile(), 1));
    // All granted extents can be committed.
    var commit = Harness.commit(file);
    long end = 0;
    for (Extent extent : granted.getGrants().getExtentsList()) {
      commit.addExtents(Harness.written(extent, end, extent.getCapacity()));
      end += extent.getCapacity();
    }
    assertThat(end).isEqualTo(5 * UNIT);
    root.committed(commit.setLength(end));
    assertUsed("/q", 3, 5 * UNIT);
  }

  @Test
  void shouldCountAnOpenFileAsWhatItMayGrowTo() {
    assertOk(set(root, "/q", NONE, 4 * UNIT));
    OpenedFile file = assertOk(root.create("/q/f")).getOpenedFile();
    Extent extent = root.granted(file, UNIT);
    root.committed(Harness.commit(file).addExtents(Harness.written(extent, 0, 100)).setLength(100));
    assertUsed("/q", 2, UNIT);
    // It goes on in the same extent, which nobody else can have taken from it.
    assertOk(set(root, "/q", NONE, 10));
    root.committed(
        Harness.commit(file)
            .addExtents(Harness.written(extent, 0, 5000))
            .setLength(5000)
            .setClose(true)
            .setAllWritesCompleted(true));
    assertUsed("/q", 2, 5000);
    assertExceeded(root.append("/q/f"));
    assertUsed("/q", 2, 5000);
    assertOk(set(root, "/q", NONE, UNIT));
    assertOk(root.append("/q/f"));
    assertUsed("/q", 2, UNIT);
    assertOk(root.recoverLease("/q/f"));
    assertUsed("/q", 2, 5000);
    // The last extent is sealed: nothing can grow in it.
    assertOk(root.append("/q/f"));
    assertUsed("/q", 2, 5000);
  }

  @Test
  void shouldNotCountWhatWasGrantedToAClientThatIsGone() {
    assertOk(set(root, "/q", NONE, 100 * UNIT));
    Harness.Client client = server.superuser();
    OpenedFile file = client.opened("/q/f");
    assertOk(client.grant(file, 3 * UNIT));
    assertUsed("/q", 2, 3 * UNIT);
    server.expireSession(client.id);
    assertUsed("/q", 2, 0);
    Harness.Client other = server.superuser();
    assertOk(other.grant(other.opened("/q/g"), 3 * UNIT));
    server.expireLeases(other.id);
    assertUsed("/q", 3, 0);
  }

  @Test
  void shouldCountAFileAsOftenAsItsReplicationSays() {
    assertOk(set(root, "/q", NONE, 10 * UNIT));
    OpenedFile file =
        assertOk(root.create(Create.newBuilder().setPath("/q/f").setReplication(3)))
            .getOpenedFile();
    assertOk(root.grant(file, 100 * UNIT));
    assertUsed("/q", 2, 9 * UNIT);
    root.committed(
        Harness.commit(file)
            .setInlineData(com.google.protobuf.ByteString.copyFromUtf8("abcd"))
            .setLength(4)
            .setClose(true)
            .setAllWritesCompleted(true));
    assertUsed("/q", 2, 12);
    assertOk(set(root, "/q", NONE, 20));
    assertExceeded(root.set(SetAttributes.newBuilder().setPath("/q/f").setReplication(6)));
    assertOk(root.set(SetAttributes.newBuilder().setPath("/q/f").setReplication(5)));
    assertUsed("/q", 2, 20);
    OpenedFile inline = assertOk(root.create("/q/g")).getOpenedFile();
    assertExceeded(
        root.commit(
            Harness.commit(inline)
                .setInlineData(com.google.protobuf.ByteString.copyFromUtf8("x"))
                .setLength(1)));
    assertOk(
        root.truncate(
            Truncate.newBuilder()
                .setPath("/q/f")
                .setLength(1)
                .setExpectedVersion(root.info("/q/f").getVersion())));
    assertUsed("/q", 3, 5);
  }

  // ---- trees

  @Test
  void shouldChargeAllQuotasAboveAndMoveChargesWithWhatMoves() {
    assertOk(root.mkdirs("/q/in/d/e"));
    assertOk(root.mkdirs("/r"));
    root.file("/q/in/d/e/f", 1000);
    assertOk(set(root, "/q", 100, NONE));
    assertOk(set(root, "/q/in", 100, NONE));
    assertOk(set(root, "/r", 5, 5 * UNIT));
    assertUsed("/q", 5, 1000);
    assertUsed("/q/in", 4, 1000);
    // A directory without a quota: it is counted.
    assertOk(root.rename("/q/in/d", "/r/d", false));
    assertUsed("/q", 2, 0);
    assertUsed("/q/in", 1, 0);
    assertUsed("/r", 4, 1000);
    assertThat(get("/r/d").hasNamesUsed()).isFalse();
    root.file("/r/d/e/g", 1);
    assertExceeded(root.create("/r/d/e/h"));
    // One with a quota knows.
    assertOk(root.rename("/r/d", "/q/in/d", false));
    assertUsed("/q", 6, 1001);
    assertExceeded(root.rename("/q/in", "/r/in", false));
    assertOk(root.delete("/q/in/d/e/g", false));
    assertOk(root.delete("/q/in/d/e/f", false));
    assertOk(root.rename("/q/in", "/r/in", false));
    assertUsed("/q", 1, 0);
    assertUsed("/r", 4, 0);
    assertUsed("/r/in", 3, 0);
    root.file("/r/in/d/x", 1);
    assertUsed("/r", 5, 1);
    assertOk(root.rename("/r/in", "/in", false));
    assertUsed("/r", 1, 0);
    root.file("/in/d/y", 1);
    assertUsed("/in", 5, 2);
  }

  @Test
  void shouldMoveAnOpenFileWithWhatWasGrantedToIt() {
    assertOk(set(root, "/q", NONE, 10 * UNIT));
    assertOk(root.mkdirs("/r/d"));
    assertOk(set(root, "/r", NONE, UNIT));
    OpenedFile file = root.opened("/q/f");
    assertOk(root.grant(file, 2 * UNIT));
    assertExceeded(root.rename("/q/f", "/r/d/f", false));
    assertOk(set(root, "/r", NONE, 3 * UNIT));
    assertOk(root.rename("/q/f", "/r/d/f", false));
    assertUsed("/q", 1, 0);
    assertUsed("/r", 3, 2 * UNIT);
    assertOk(root.grant(file, UNIT));
    assertUsed("/r", 3, 3 * UNIT);
    assertExceeded(root.grant(file, UNIT));
    root.committed(Harness.commit(file).setClose(true).setAbandon(true));
    assertUsed("/r", 3, 0);
  }

  @Test
  void shouldTellWhoWantsRoomToWaitForWhatWasDeleted() {
    assertOk(set(root, "/", 1000, NONE));
    assertOk(set(root, "/q", 6, 10 * UNIT));
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/b/f", 10);
    root.file("/q/a/g", 20);
    OpenedFile open = root.opened("/q/a/open");
    assertUsed("/q", 6, 30);
    assertOk(root.delete("/q/a", true));
    assertUsed("/q", 5, 30);
    assertOk(root.create("/q/x"));
    Reply full = assertStatus(root.create("/q/y"), Status.UNAVAILABLE);
    assertThat(full.getMessage()).contains("deleted");
    Request.Builder patient =
        Request.newBuilder().setHasWaited(true).setCreate(Create.newBuilder().setPath("/q/y"));
    assertThat(assertStatus(root.call(patient), Status.QUOTA_EXCEEDED).getMessage())
        .contains("still being reclaimed");
    assertStatus(set(root, "/q", NONE, NONE), Status.UNAVAILABLE);
    while (server.machine.reclaimPending()) {
      server.reclaim(1);
      Consistency.check(server);
    }
    assertStatus(root.grant(open, 1), Status.LEASE_LOST);
    assertOk(root.create("/q/y"));
    assertUsed("/q", 3, 0);
    assertUsed("/", 4, 0);
    assertOk(set(root, "/q", NONE, NONE));
    assertUsed("/", 4, 0);
  }

  @Test
  void shouldDoAWaitingCallWhenItComesAgain() {
    assertOk(set(root, "/q", 3, NONE));
    assertOk(root.mkdirs("/q/a/b"));
    assertOk(root.delete("/q/a", true));
    assertOk(root.create("/q/x"));
    Request.Builder create = Request.newBuilder().setCreate(Create.newBuilder().setPath("/q/y"));
    LogEntry.Builder entry = root.entry(create, ++root.sequence);
    assertStatus(server.apply(entry), Status.UNAVAILABLE);
    server.reclaimAll();
    assertOk(server.apply(entry));
    assertThat(root.names("/q")).containsExactly("x", "y");
  }

  @Test
  void shouldLetWhatWasDeletedCountWhereItDid() {
    assertOk(root.mkdirs("/r"));
    assertOk(set(root, "/q", 100, NONE));
    assertOk(set(root, "/r", 100, NONE));
    assertOk(root.mkdirs("/q/in/d/e"));
    assertOk(root.mkdirs("/q/p/d"));
    assertOk(set(root, "/q/in", 100, NONE));
    assertOk(root.delete("/q/in/d", true));
    assertOk(root.delete("/q/p/d", false));
    assertOk(root.mkdirs("/q/p/d/e/f"));
    assertOk(root.delete("/q/p/d", true));
    // Those that it was deleted from move meanwhile.
    assertOk(root.rename("/q/in", "/r/in", false));
    assertOk(root.rename("/q/p", "/r/p", false));
    Consistency.check(server);
    assertUsed("/r", 4, 0);
    assertUsed("/q", 3, 0);
    server.reclaimAll();
    assertUsed("/r", 3, 0);
    assertUsed("/r/in", 1, 0);
    assertUsed("/q", 1, 0);
    // A quota goes with its directory, and takes all that counts with it.
    assertOk(root.mkdirs("/r/in/d/e"));
    assertOk(root.delete("/r/in/d", true));
    assertOk(root.delete("/r", true));
    Consistency.check(server);
    server.reclaimAll();
  }

  // ---- counting

  private void makeTree(String path) {
    for (int i = 0; i < 150; i++) {
      assertOk(root.mkdirs(path + "/wide/d" + i));
      root.closeInline(root.opened(path + "/wide/d" + i + "/f"), "1234567890");
    }
    assertOk(root.mkdirs(path + "/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x"));
  }

  private static final long TREE_NAMES = 1 + 1 + 2 * 150 + 29;

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
      server.restart(server.store);
      assertOk(count());
      steps++;
    }
    assertThat(steps).isBetween(3, 50);
    assertUsed("/q", TREE_NAMES + 3, 1500 + UNIT);
    assertOk(root.create("/q/elsewhere"));
    assertOk(count());
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
    assertThat(get("/tree").hasNamesUsed()).isFalse();
    assertOk(set(root, "/q", TREE_NAMES + 1, NONE));
    assertStatus(root.rename("/tree", "/q/tree", false), Status.UNAVAILABLE);
    countAll();
    assertOk(root.rename("/tree", "/q/tree", false));
    assertUsed("/q", TREE_NAMES + 1, 1500);
    assertExceeded(root.create("/q/tree/x/y"));
  }

  @Test
  void shouldNotGoUpAllOfAPathForEveryCharge() throws TakoException {
    assertOk(set(root, "/q", 100, NONE));
    assertOk(root.mkdirs("/q/a/b/c"));
    assertOk(root.create("/q/a/b/c/f"));
    // A walk through here would find no way up now.
    long id = root.info("/q/a").getId();
    OrderedMap contents = server.store.shard(Ids.contentShard(id));
    byte[] key = Keys.of(Keys.CONTENTS, id);
    byte[] record = contents.get(key);
    contents.remove(key);
    assertOk(root.create("/q/a/b/c/g"));
    contents.put(key, record);
    assertUsed("/q", 6, 0);
    // The cache is dropped when a directory moves.
    assertOk(root.mkdirs("/other"));
    assertOk(root.rename("/q/a/b", "/other/b", false));
    assertOk(root.create("/other/b/c/h"));
    assertUsed("/q", 2, 0);
    Consistency.check(server);
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
    assertUsed("/q", 1 + 103, 0);
    Consistency.check(server);
  }

  private void countAll() {
    while (server.machine.countPending()) {
      assertOk(count());
    }
  }

  private boolean hasRecord(String path) {
    return server.store.server().get(Keys.of(Keys.QUOTA, root.info(path).getId())) != null;
  }

  // ---- who and what

  @Test
  void shouldBeTheSuperusersToSetOnDirectories() {
    Harness.Client ann = server.client("ann", "staff");
    assertOk(root.set(SetAttributes.newBuilder().setPath("/q").setOwner("ann")));
    assertStatus(set(ann, "/q", 10, NONE), Status.PERMISSION_DENIED);
    root.file("/q/f", 1);
    assertStatus(set(root, "/q/f", 10, NONE), Status.NOT_A_DIRECTORY);
    assertStatus(set(root, "/x", 10, NONE), Status.NOT_FOUND);
    for (long wrong : new long[] {0, -2, Long.MIN_VALUE}) {
      assertStatus(set(root, "/q", wrong, NONE), Status.INVALID_ARGUMENT);
    }
    assertStatus(set(root, "/q", NONE, -2), Status.INVALID_ARGUMENT);
    assertThat(get("/q").hasNamesUsed()).isFalse();
    assertOk(set(root, "/q", NONE, 0));
    assertThat(get("/q").hasNames()).isFalse();
    assertThat(get("/q").getSpace()).isZero();
    assertExceeded(root.grant(root.opened("/q/g"), 1));
    // The superuser is bound by them too; one limit is set without the other.
    assertOk(
        root.call(
            Request.newBuilder().setSetQuota(SetQuota.newBuilder().setPath("/q").setNames(3))));
    assertThat(get("/q").getSpace()).isZero();
    assertThat(get("/q").getNames()).isEqualTo(3);
    assertExceeded(root.create("/q/h"));
  }
}
