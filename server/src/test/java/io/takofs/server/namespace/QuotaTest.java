package io.takofs.server.namespace;

import static io.takofs.server.namespace.QuotaCalls.assertExceeded;
import static io.takofs.server.namespace.QuotaCalls.set;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.store.OrderedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QuotaTest {
  private static final long NONE = Quota.NONE;
  private static final long UNIT = 65536;

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

  // ---- names

  @Test
  void shouldAllowSoManyNamesAndNotOneMore() {
    assertOk(set(root, "/q", 4, NONE));
    quotas.assertUsed("/q", 1, 0);
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/f", 10);
    quotas.assertUsed("/q", 4, 10);
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
    quotas.assertUsed("/q", 4, 0);
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
    quotas.assertUsed("/q", 1, 0);
    assertOk(root.create(Create.newBuilder().setPath("/q/a/f").setCreateParents(true)));
    quotas.assertUsed("/q", 3, 0);
  }

  @Test
  void shouldTakeALimitBelowWhatThereIs() {
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/f", 100);
    assertOk(set(root, "/q", 1, 0));
    quotas.assertUsed("/q", 4, 100);
    assertExceeded(root.create("/q/g"));
    assertExceeded(root.grant(assertOk(root.append("/q/a/f")).getOpenedFile(), 1));
    assertOk(root.rename("/q/a/f", "/q/a/b/f", false));
    assertOk(root.set(SetAttributes.newBuilder().setPath("/q/a/b/f").setPermission(0600)));
    assertOk(root.delete("/q/a/b/f", false));
    quotas.assertUsed("/q", 3, 0);
  }

  // ---- space

  @Test
  void shouldGrantNoMoreThanFits() {
    assertOk(set(root, "/q", NONE, 5 * UNIT + 1));
    OpenedFile file = assertOk(root.create("/q/f")).getOpenedFile();
    Reply granted = assertOk(root.grant(file, 100 * UNIT));
    quotas.assertUsed("/q", 2, 5 * UNIT);
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
    quotas.assertUsed("/q", 3, 5 * UNIT);
  }

  @Test
  void shouldCountAnOpenFileAsWhatItMayGrowTo() {
    assertOk(set(root, "/q", NONE, 4 * UNIT));
    OpenedFile file = assertOk(root.create("/q/f")).getOpenedFile();
    Extent extent = root.granted(file, UNIT);
    root.committed(Harness.commit(file).addExtents(Harness.written(extent, 0, 100)).setLength(100));
    quotas.assertUsed("/q", 2, UNIT);
    // It goes on in the same extent, which nobody else can have taken from it.
    assertOk(set(root, "/q", NONE, 10));
    root.committed(
        Harness.commit(file)
            .addExtents(Harness.written(extent, 0, 5000))
            .setLength(5000)
            .setClose(true)
            .setAllWritesCompleted(true));
    quotas.assertUsed("/q", 2, 5000);
    assertExceeded(root.append("/q/f"));
    quotas.assertUsed("/q", 2, 5000);
    assertOk(set(root, "/q", NONE, UNIT));
    assertOk(root.append("/q/f"));
    quotas.assertUsed("/q", 2, UNIT);
    assertOk(root.recoverLease("/q/f"));
    quotas.assertUsed("/q", 2, 5000);
    // The last extent is sealed: nothing can grow in it.
    assertOk(root.append("/q/f"));
    quotas.assertUsed("/q", 2, 5000);
  }

  @Test
  void shouldNotCountWhatWasGrantedToAClientThatIsGone() {
    assertOk(set(root, "/q", NONE, 100 * UNIT));
    Harness.Client client = server.superuser();
    OpenedFile file = client.opened("/q/f");
    assertOk(client.grant(file, 3 * UNIT));
    quotas.assertUsed("/q", 2, 3 * UNIT);
    server.expireSession(client.id);
    quotas.assertUsed("/q", 2, 0);
    Harness.Client other = server.superuser();
    assertOk(other.grant(other.opened("/q/g"), 3 * UNIT));
    server.expireLeases(other.id);
    quotas.assertUsed("/q", 3, 0);
  }

  @Test
  void shouldCountAFileAsOftenAsItsReplicationSays() {
    assertOk(set(root, "/q", NONE, 10 * UNIT));
    OpenedFile file =
        assertOk(root.create(Create.newBuilder().setPath("/q/f").setReplication(3)))
            .getOpenedFile();
    assertOk(root.grant(file, 100 * UNIT));
    quotas.assertUsed("/q", 2, 9 * UNIT);
    root.committed(
        Harness.commit(file)
            .setInlineData(com.google.protobuf.ByteString.copyFromUtf8("abcd"))
            .setLength(4)
            .setClose(true)
            .setAllWritesCompleted(true));
    quotas.assertUsed("/q", 2, 12);
    assertOk(set(root, "/q", NONE, 20));
    assertExceeded(root.set(SetAttributes.newBuilder().setPath("/q/f").setReplication(6)));
    assertOk(root.set(SetAttributes.newBuilder().setPath("/q/f").setReplication(5)));
    quotas.assertUsed("/q", 2, 20);
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
    quotas.assertUsed("/q", 3, 5);
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
    quotas.assertUsed("/q", 5, 1000);
    quotas.assertUsed("/q/in", 4, 1000);
    // A directory without a quota: it is counted.
    assertOk(root.rename("/q/in/d", "/r/d", false));
    quotas.assertUsed("/q", 2, 0);
    quotas.assertUsed("/q/in", 1, 0);
    quotas.assertUsed("/r", 4, 1000);
    assertThat(quotas.get("/r/d").hasNamesUsed()).isFalse();
    root.file("/r/d/e/g", 1);
    assertExceeded(root.create("/r/d/e/h"));
    // One with a quota knows.
    assertOk(root.rename("/r/d", "/q/in/d", false));
    quotas.assertUsed("/q", 6, 1001);
    assertExceeded(root.rename("/q/in", "/r/in", false));
    assertOk(root.delete("/q/in/d/e/g", false));
    assertOk(root.delete("/q/in/d/e/f", false));
    assertOk(root.rename("/q/in", "/r/in", false));
    quotas.assertUsed("/q", 1, 0);
    quotas.assertUsed("/r", 4, 0);
    quotas.assertUsed("/r/in", 3, 0);
    root.file("/r/in/d/x", 1);
    quotas.assertUsed("/r", 5, 1);
    assertOk(root.rename("/r/in", "/in", false));
    quotas.assertUsed("/r", 1, 0);
    root.file("/in/d/y", 1);
    quotas.assertUsed("/in", 5, 2);
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
    quotas.assertUsed("/q", 1, 0);
    quotas.assertUsed("/r", 3, 2 * UNIT);
    assertOk(root.grant(file, UNIT));
    quotas.assertUsed("/r", 3, 3 * UNIT);
    assertExceeded(root.grant(file, UNIT));
    root.committed(Harness.commit(file).setClose(true).setAbandon(true));
    quotas.assertUsed("/r", 3, 0);
  }

  @Test
  void shouldTellWhoWantsRoomToWaitForWhatWasDeleted() {
    assertOk(set(root, "/", 1000, NONE));
    assertOk(set(root, "/q", 6, 10 * UNIT));
    assertOk(root.mkdirs("/q/a/b"));
    root.file("/q/a/b/f", 10);
    root.file("/q/a/g", 20);
    OpenedFile open = root.opened("/q/a/open");
    quotas.assertUsed("/q", 6, 30);
    assertOk(root.delete("/q/a", true));
    quotas.assertUsed("/q", 5, 30);
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
    quotas.assertUsed("/q", 3, 0);
    quotas.assertUsed("/", 4, 0);
    assertOk(set(root, "/q", NONE, NONE));
    quotas.assertUsed("/", 4, 0);
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
    quotas.assertUsed("/r", 4, 0);
    quotas.assertUsed("/q", 3, 0);
    server.reclaimAll();
    quotas.assertUsed("/r", 3, 0);
    quotas.assertUsed("/r/in", 1, 0);
    quotas.assertUsed("/q", 1, 0);
    // A quota goes with its directory, and takes all that counts with it.
    assertOk(root.mkdirs("/r/in/d/e"));
    assertOk(root.delete("/r/in/d", true));
    assertOk(root.delete("/r", true));
    Consistency.check(server);
    server.reclaimAll();
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
    quotas.assertUsed("/q", 6, 0);
    // The cache is dropped when a directory moves.
    assertOk(root.mkdirs("/other"));
    assertOk(root.rename("/q/a/b", "/other/b", false));
    assertOk(root.create("/other/b/c/h"));
    quotas.assertUsed("/q", 2, 0);
    Consistency.check(server);
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
    assertThat(quotas.get("/q").hasNamesUsed()).isFalse();
    assertOk(set(root, "/q", NONE, 0));
    assertThat(quotas.get("/q").hasNames()).isFalse();
    assertThat(quotas.get("/q").getSpace()).isZero();
    assertExceeded(root.grant(root.opened("/q/g"), 1));
    // The superuser is bound by them too; one limit is set without the other.
    assertOk(
        root.call(
            Request.newBuilder().setSetQuota(SetQuota.newBuilder().setPath("/q").setNames(3))));
    assertThat(quotas.get("/q").getSpace()).isZero();
    assertThat(quotas.get("/q").getNames()).isEqualTo(3);
    assertExceeded(root.create("/q/h"));
  }
}
