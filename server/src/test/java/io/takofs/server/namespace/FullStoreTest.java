package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.extent.Slabs;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The smallest page zone, full. */
class FullStoreTest {
  private static final int PAGES = 1024;
  private static final int RECLAIM_LIMIT = 64;

  private final PagedStores pages = new PagedStores(PAGES);
  private Harness server;
  private Harness.Client client;

  @BeforeEach
  void begin() {
    server = new Harness(pages.open(), List.of(1L << 30, 1L << 30));
    client = server.superuser();
  }

  /** The steps of a journal before an entry. */
  private void checkpointIfDue() {
    if (server.store.checkpointDue()) {
      server.store.checkpoint(server.log.size());
    }
  }

  /** The process dies, and the next one applies what the last checkpoint does not have. */
  private void restart() {
    PagedStore store = pages.open();
    List<LogEntry> log = new ArrayList<>(server.log);
    server.restart(store);
    for (long index = store.checkpointIndex() + 1; index <= log.size(); index++) {
      if (store.checkpointDue()) {
        store.checkpoint(index - 1);
      }
      Reply reply = server.machine.apply(index, log.get((int) index - 1));
      assertThat(reply).isEqualTo(server.replies.get((int) index - 1));
    }
  }

  /** Directories, each of them with something below, until no more fit. */
  private List<String> fill(int parents, int nameLength, int extents) {
    List<String> made = new ArrayList<>();
    String suffix = "n".repeat(nameLength);
    while (true) {
      String path = "/p" + made.size() % parents + "/" + made.size() + suffix;
      Request wanted =
          Request.newBuilder()
              .setMkdirs(
                  io.takofs.proto.Mkdirs.newBuilder()
                      .setPath(path + "/below")
                      .setPermission(0755)
                      .setCreateParents(true))
              .build();
      checkpointIfDue();
      if (server.machine.refusal(wanted) != null
          || client.call(wanted.toBuilder()).getStatus() != Status.OK) {
        return made;
      }
      if (extents > 0 && client.create(path + "/below/f").getStatus() != Status.OK) {
        return made;
      }
      made.add(path);
    }
  }

  @ParameterizedTest
  @CsvSource({"1,1,0", "50,1,0", "200,1,0", "3000,1,0", "50,200,0", "3000,200,0", "200,1,1"})
  void shouldTakeDeletesWithoutReclaimingAndThenReclaim(int parents, int nameLength, int extents) {
    List<String> made = fill(parents, nameLength, extents);
    assertThat(made.size()).isGreaterThan(1000);
    int deleted = 0;
    for (String path : made) {
      checkpointIfDue();
      Request delete =
          Request.newBuilder()
              .setDelete(io.takofs.proto.Delete.newBuilder().setPath(path).setRecursive(true))
              .build();
      assertThat(server.machine.refusal(delete))
          .as("after %d of %d", deleted, made.size())
          .isNull();
      assertOk(client.call(delete.toBuilder()));
      deleted++;
      if (deleted == made.size() / 2) {
        restart();
      }
    }
    Request more =
        Request.newBuilder()
            .setMkdirs(io.takofs.proto.Mkdirs.newBuilder().setPath("/more").setPermission(0755))
            .build();
    Reply refused = server.machine.refusal(more);
    if (refused != null) {
      // Deleted files make room before long.
      assertThat(refused.getStatus()).isEqualTo(Status.UNAVAILABLE);
      Reply late = server.machine.refusal(more.toBuilder().setHasWaited(true).build());
      assertThat(late.getStatus()).isEqualTo(Status.NO_SPACE);
    }
    for (int i = 0; server.machine.reclaimPending(); i++) {
      checkpointIfDue();
      assertOk(server.reclaim(RECLAIM_LIMIT));
      if (i == 20) {
        restart();
      }
    }
    assertThat(server.store.pagesUsed()).isLessThan(300);
    Consistency.check(server);
    assertOk(client.mkdirs("/again"));
  }

  /** All but one unit in a hundred rest in quarantine. */
  private static Harness withFewFreeUnits(PagedStore store, List<Long> arenas) throws Exception {
    Harness formatted = new Harness(store, arenas);
    Map<Long, BitSet> used = new TreeMap<>();
    int unit = 0;
    for (Slab slab : formatted.machine.slabs().all()) {
      for (int at = slab.getFirstUnit(); at < slab.getEndUnit(); at++) {
        if (unit++ % 100 != 0) {
          used.computeIfAbsent(slab.getId(), id -> new BitSet()).set(at);
          store
              .server()
              .put(
                  new ByteWriter(10).u8('X').u64(slab.getId()).u8(at).toBytes(),
                  new ByteWriter(26)
                      .u8(2)
                      .variable(unit)
                      .variable(1)
                      .u64(0)
                      .variable(1)
                      .variable(0)
                      .toBytes());
        }
        if (store.checkpointDue()) {
          store.checkpoint(formatted.log.size());
        }
      }
    }
    store.checkpoint(formatted.log.size());
    Slabs.summarize(store, used);
    store.checkpoint(formatted.log.size());
    formatted.restart(store);
    return formatted;
  }

  @Test
  void shouldReclaimNoMoreWithAnEntryThanPagesAreKeptFor() throws Exception {
    server = withFewFreeUnits(pages.open(), List.of(1L << 30, 1L << 30, 1L << 30));
    client = server.superuser();
    List<String> directories = new ArrayList<>();
    for (int i = 0; i < 110; i++) {
      String path = "/d" + i;
      assertOk(client.mkdirs(path));
      client.file(path + "/f", 4 << 16);
      directories.add(path);
      checkpointIfDue();
    }
    fill(200, 1, 0);
    for (String path : directories) {
      checkpointIfDue();
      assertOk(client.delete(path, true));
    }
    server.store.checkpoint(server.log.size());
    for (int i = 0; server.machine.reclaimPending(); i++) {
      assertThat(i).isLessThan(1000);
      checkpointIfDue();
      assertOk(server.reclaim(RECLAIM_LIMIT));
      restart();
    }
    Consistency.check(server);
  }

  @Test
  void shouldReclaimEmptiedDirectoriesInSmallSteps() {
    int directories = 1500;
    for (int i = 0; i < directories; i++) {
      checkpointIfDue();
      assertOk(client.mkdirs("/gone/" + i + "/below"));
      checkpointIfDue();
      assertOk(client.delete("/gone/" + i + "/below", false));
    }
    fill(200, 200, 0);
    checkpointIfDue();
    assertOk(client.delete("/gone", true));
    server.store.checkpoint(server.log.size());
    for (int i = 0; server.machine.reclaimPending(); i++) {
      assertThat(i).isLessThan(directories);
      checkpointIfDue();
      assertOk(server.reclaim(RECLAIM_LIMIT));
      restart();
    }
    Consistency.check(server);
  }
}
