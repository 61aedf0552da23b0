package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.AddSlab;
import io.takofs.proto.Append;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Delete;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.extent.Slabs;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class HousekeepingTest {
  private static final int UNITS_PER_ARENA = Layout.ARENA_SIZE / Layout.UNIT_SIZE;

  /** A tick has some ten looks at the clock, and frees 128 extents between two. */
  private static final long VISITED_MAX = 20_000;

  private static HousekeepingRig withQuarantined(int extents, int granted) throws Exception {
    List<Long> arenas =
        Collections.nCopies((extents + granted) / UNITS_PER_ARENA + 2, (long) Layout.ARENA_SIZE);
    PagedStore store = new PagedStores(12_288).open();
    Map<Long, BitSet> used = new TreeMap<>();
    byte[] format = Limits.defaults(TestServer.SUPERUSER).toProto(1).toByteArray();
    store.server().put(new byte[] {'F'}, format);
    int i = 0;
    for (AddSlab.Builder added : Slabs.of(1, arenas)) {
      long id = added.getReplicas(0).getLease();
      Slab slab =
          Slab.newBuilder()
              .setId(id)
              .setVersion(1)
              .setWanted(1)
              .addAllReplicas(added.getReplicasList())
              .setFirstUnit(added.getFirstUnit())
              .setEndUnit(added.getEndUnit())
              .build();
      store.server().put(new ByteWriter(9).u8('B').u64(id).toBytes(), slab.toByteArray());
      for (int unit = slab.getFirstUnit(); unit < slab.getEndUnit(); unit++) {
        if (i < granted + extents) {
          ByteWriter value = new ByteWriter(26).u8(i < granted ? 1 : 2).variable(i).variable(1);
          store
              .server()
              .put(
                  new ByteWriter(10).u8('X').u64(id).u8(unit).toBytes(),
                  i < granted
                      ? value.u64(1).u64(1).toBytes()
                      : value.u64(0).variable(1).variable(0).toBytes());
          used.computeIfAbsent(id, any -> new BitSet()).set(unit);
          i++;
        }
        if (store.checkpointDue()) {
          store.checkpoint(0);
        }
      }
    }
    Slabs.summarize(store, used);
    store.checkpoint(0);
    return new HousekeepingRig(store, LentSlabs.allHeld(arenas));
  }

  @Test
  void shouldFreeAMillionExtentsInSecondsAndLookAtFewRecordsAtATime() throws Exception {
    int extents = 1_000_000;
    HousekeepingRig rig = withQuarantined(extents, 0);
    assertThat(rig.machine.quarantinedCount()).isEqualTo(extents);
    long begin = rig.nowMs();
    while (rig.machine.quarantinedCount() > 0) {
      rig.tick();
      assertThat(rig.nowMs() - begin).isLessThan(5_000);
    }
    assertThat(rig.visitedMax).isLessThan(VISITED_MAX);
    assertThat(rig.machine.usage().getUsed()).isZero();
  }

  @Test
  void shouldNotLookAtAllExtentsThatAreGrantedOrCannotBeFreed() throws Exception {
    HousekeepingRig rig = withQuarantined(100_000, 100_000);
    rig.passMs(-rig.nowMs()); // nothing is due: all came a millisecond after the beginning
    for (int i = 0; i < 100; i++) {
      rig.tick();
    }
    assertThat(rig.visitedMax).isLessThan(100);
    assertThat(rig.machine.quarantinedCount()).isEqualTo(100_000);
  }

  private static OpenedFile create(HousekeepingRig rig, long client, String path)
      throws TakoException {
    return TestClient.ok(rig.execute(client, TestClient.create(path, 0))).getOpenedFile();
  }

  /** A directory with very many entries before a file that fills the pool, deleted; and a file. */
  private static OpenedFile fullOfWhatIsDeleted(HousekeepingRig rig, long client)
      throws TakoException {
    for (int i = 0; i < 20_000; i++) {
      TestClient.ok(rig.execute(client, TestClient.mkdirs("/d/" + i)));
    }
    OpenedFile large = create(rig, client, "/d/z");
    CommitExtents.Builder commit =
        CommitExtents.newBuilder()
            .setFileId(large.getFile().getId())
            .setLeaseEpoch(large.getLeaseEpoch());
    long end = 0;
    while (rig.supply.usage().getFree() > 0) {
      for (Extent extent :
          TestClient.ok(serve(rig, client, TestClient.grant(large, 16 << 20)))
              .getGrants()
              .getExtentsList()) {
        commit.addExtents(extent.toBuilder().setFileOffset(end).setLength(extent.getCapacity()));
        end += extent.getCapacity();
      }
      TestClient.ok(
          rig.execute(
              client, Request.newBuilder().setCommitExtents(commit.setLength(end)).build()));
      commit.clearExtents();
    }
    TestClient.ok(
        rig.execute(
            client,
            Request.newBuilder()
                .setCommitExtents(commit.setClose(true).setAllWritesCompleted(true))
                .build()));
    OpenedFile open = create(rig, client, "/new");
    assertThat(rig.execute(client, TestClient.grant(open, 1)).getStatus())
        .isEqualTo(Status.NO_SPACE);
    TestClient.ok(
        rig.execute(
            client,
            Request.newBuilder()
                .setDelete(Delete.newBuilder().setPath("/d").setRecursive(true))
                .build()));
    return open;
  }

  /** Grants as a server does. */
  private static Reply serve(HousekeepingRig rig, long client, Request request)
      throws TakoException {
    rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, request, 0);
    return rig.execute(client, request);
  }

  @Test
  void shouldLetAWriterTryAgainWhileDeletedSpaceIsReclaimed() throws Exception {
    HousekeepingRig rig =
        new HousekeepingRig(new HeapStore(Long.MAX_VALUE), List.of((long) Layout.ARENA_SIZE));
    long client = rig.openSession();
    OpenedFile file = fullOfWhatIsDeleted(rig, client);
    Request wanted = TestClient.grant(file, 1);
    int refused = 0;
    Reply reply = null;
    while (reply == null) {
      try {
        reply = serve(rig, client, wanted);
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(++refused).isLessThan(1000);
        rig.tick();
      }
    }
    assertThat(reply.getStatus()).isEqualTo(Status.OK);
    assertThat(refused).isPositive();
  }

  @Test
  void shouldNotLetAWriterTryAgainForEver() throws Exception {
    HousekeepingRig rig =
        new HousekeepingRig(new HeapStore(Long.MAX_VALUE), List.of((long) Layout.ARENA_SIZE));
    long client = rig.openSession();
    OpenedFile file = fullOfWhatIsDeleted(rig, client);
    Request wanted = TestClient.grant(file, 1);
    assertThatThrownBy(() -> serve(rig, client, wanted))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    Reply reply = serve(rig, client, wanted.toBuilder().setHasWaited(true).build());
    assertThat(reply.getStatus()).isEqualTo(Status.NO_SPACE);
  }

  @Test
  void shouldLogNoLapsedClientButTheWriterOfTheFile() throws Exception {
    HousekeepingRig rig =
        new HousekeepingRig(new HeapStore(Long.MAX_VALUE), List.of((long) Layout.ARENA_SIZE));
    List<Long> writers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      long writer = rig.openSession();
      create(rig, writer, "/f" + i);
      rig.sessions.recovered(writer, Duration.ofHours(1).toNanos());
      writers.add(writer);
    }
    rig.passMs(61_000);
    rig.tick();
    assertThat(rig.housekeeping.lapsedClients(append("/f7"), HousekeepingRig.ROOT))
        .containsExactly(writers.get(7));
    assertThat(rig.housekeeping.lapsedClients(append("/none"), HousekeepingRig.ROOT)).isEmpty();
    assertThat(rig.housekeeping.lapsedClients(append(""), HousekeepingRig.ROOT)).isEmpty();
    Request truncate =
        Request.newBuilder().setTruncate(Truncate.newBuilder().setPath("/f8")).build();
    assertThat(rig.housekeeping.lapsedClients(truncate, HousekeepingRig.ROOT))
        .containsExactly(writers.get(8));
    assertThat(rig.housekeeping.lapsedClients(TestClient.create("/f9", 0), HousekeepingRig.ROOT))
        .containsExactly(writers.get(9));
  }

  private static Request append(String path) {
    return Request.newBuilder().setAppend(Append.newBuilder().setPath(path)).build();
  }
}
