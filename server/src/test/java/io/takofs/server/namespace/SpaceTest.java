package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.MIB;
import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.PagedStores;
import io.takofs.server.store.Store;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpaceTest {
  private static final List<Long> ARENAS = List.of(4 * MIB);

  @Test
  void shouldGrantWhatIsLeftAndThenNothing() {
    Harness server = new Harness(new HeapStore(Long.MAX_VALUE), ARENAS);
    Harness.Client client = server.superuser();
    long all = server.machine.usage().getCapacity();
    OpenedFile opened = client.opened("/f");
    Reply granted = assertOk(client.grant(opened, 100 * MIB));
    assertThat(granted.getGrants().getExtentsList().stream().mapToLong(Extent::getCapacity).sum())
        .isEqualTo(all);
    Reply refused = assertStatus(client.grant(opened, 1), Status.NO_SPACE);
    assertThat(refused.getMessage()).contains("delete");
    // A file can be made all the same; its writer is told when it wants to write.
    Reply created = assertOk(client.create(Create.newBuilder().setPath("/g").setGrantBytes(1)));
    assertThat(created.getOpenedFile().getGrantsCount()).isZero();
    Consistency.check(server);
    client.delete("/f", false);
    server.freeAll();
    assertThat(server.free()).isEqualTo(all);
    assertOk(client.grant(created.getOpenedFile(), 1));
  }

  @Test
  void shouldLimitOneGrant() {
    Harness server = new Harness(new HeapStore(Long.MAX_VALUE), List.of(64 * MIB));
    Harness.Client client = server.superuser();
    OpenedFile opened = client.opened("/f");
    Reply granted = client.grant(opened, 1L << 50);
    assertThat(granted.getGrants().getExtentsCount()).isEqualTo(16);
    assertThat(client.grant(opened, -1).getGrants().getExtentsCount()).isEqualTo(16);
    assertStatus(client.grant(opened, 0), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldKeepTheReplyOfTheLargestGrantOnRecord() {
    Harness server = new Harness(new HeapStore(Long.MAX_VALUE), List.of(16 * MIB));
    Harness.Client client = server.superuser();
    // Every second unit is free: a grant is all small extents.
    OpenedFile odd = client.opened("/odd");
    OpenedFile even = client.opened("/even");
    while (server.free() > 0) {
      client.granted(server.free() / 65536 % 2 == 0 ? even : odd, 1);
    }
    assertOk(client.commit(Harness.commit(even).setClose(true).setAllWritesCompleted(true)));
    Harness.Client longNamed = server.client("u".repeat(255));
    assertOk(
        client.set(
            SetAttributes.newBuilder().setPath("/").setPermission(0777).setGroup("g".repeat(255))));
    Reply created =
        assertOk(longNamed.create(Create.newBuilder().setPath("/f").setGrantBytes(16 * MIB)));
    assertThat(created.getOpenedFile().getGrantsCount()).isEqualTo(64);
  }

  /** Fills the metadata until nothing more can be made. */
  private static int fill(Harness server, Harness.Client client) {
    int made = 0;
    while (true) {
      String path = "/d" + made % 50 + "/" + "n".repeat(100) + made;
      Request request =
          Request.newBuilder()
              .setMkdirs(
                  Mkdirs.newBuilder().setPath(path).setPermission(0755).setCreateParents(true))
              .build();
      Reply refusal = server.machine.refusal(request);
      Reply reply = refusal == null ? client.call(request.toBuilder()) : refusal;
      checkpointIfDue(server);
      if (reply.getStatus() == Status.NO_SPACE) {
        assertThat(reply.getMessage()).contains("metadata").contains("delete");
        assertStatus(client.stat(path), Status.NOT_FOUND);
        return made;
      }
      assertOk(reply);
      made++;
    }
  }

  private static void checkpointIfDue(Harness server) {
    if (server.store.checkpointDue()) {
      server.store.checkpoint(server.log.size());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldRefuseWhatHasNoMetadataPagesAndGoOnAfterADelete(boolean paged) {
    Store store = paged ? new PagedStores(512).open() : new HeapStore(1000);
    Harness server = new Harness(store, ARENAS);
    Harness.Client client = server.superuser();
    OpenedFile opened = client.opened("/open");
    Extent grant = client.granted(opened, 1);
    int made = fill(server, client);
    assertThat(made).isGreaterThan(500);
    Consistency.check(server);
    // Without the question before logging, the last reserve is for those that free.
    while (client.mkdirs("/x" + server.log.size()).getStatus() == Status.OK) {
      checkpointIfDue(server);
    }
    Consistency.check(server);
    for (int i = 0; i < 40; i++) {
      assertOk(client.delete("/d" + i, true));
      assertOk(server.reclaim(20));
      checkpointIfDue(server);
    }
    while (server.machine.reclaimPending()) {
      assertOk(server.reclaim(20));
      checkpointIfDue(server);
    }
    Consistency.check(server);
    assertThat(fill(server, client)).isGreaterThan(10);
    client.committed(commit(opened).addExtents(written(grant, 0, 10)).setLength(10));
    assertOk(server.expireSession(client.id));
    assertThat(server.machine.session(client.id)).isNull();
    Consistency.check(server);
  }

  @Test
  void shouldGoRoundAllExtentsInQuarantine() {
    Harness server = new Harness(new HeapStore(Long.MAX_VALUE), List.of(16 * MIB));
    Harness.Client client = server.superuser();
    for (int i = 0; i < 10; i++) {
      client.file("/f" + i, 100);
      client.delete("/f" + i, false);
    }
    Set<Extent> seen = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      server
          .machine
          .quarantined(Long.MAX_VALUE, 3)
          .forEach(
              extent ->
                  seen.add(extent.range().toProto().setGeneration(extent.generation()).build()));
    }
    assertThat(seen).hasSize(10);
  }

  @Test
  void shouldFreeOnlyWhatIsInQuarantineUnderThatGeneration() {
    Harness server = new Harness(new HeapStore(Long.MAX_VALUE), ARENAS);
    Harness.Client client = server.superuser();
    client.file("/f", 100);
    Extent committed = client.extents("/f").get(0);
    client.delete("/f", false);
    long free = server.free();
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry
        .getFreeExtentsBuilder()
        .addExtents(committed.toBuilder().setGeneration(0))
        .addExtents(committed.toBuilder().setOffset(1 << 20))
        .addExtents(committed.toBuilder().setSlab(-1));
    assertOk(server.apply(entry));
    assertThat(server.free()).isEqualTo(free);
    entry.getFreeExtentsBuilder().clear().addExtents(committed).addExtents(committed);
    assertOk(server.apply(entry));
    assertThat(server.free()).isEqualTo(free + committed.getCapacity());
    Consistency.check(server);
  }
}
