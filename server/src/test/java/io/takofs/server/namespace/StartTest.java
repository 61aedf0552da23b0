package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.OpenedFile;
import io.takofs.server.store.CountingStore;
import io.takofs.server.store.PagedStores;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a start looks at. */
class StartTest {
  private static final int FILES = 3000;

  /** Prefixes are looked for in each shard, and a scan looks at the record after them. */
  private static final long SHARDS = 256;

  private final PagedStores stores = new PagedStores(4096);

  private static long visitsOfAStart(Harness harness) {
    CountingStore counting = new CountingStore(harness.store);
    StateMachine machine = new StateMachine(counting);
    assertThat(machine.usage()).isEqualTo(harness.machine.usage());
    assertThat(machine.extents()).isEqualTo(harness.machine.extents());
    return counting.visited();
  }

  private static void write(Harness harness, int from, int to) throws TakoException {
    Harness.Client root = harness.superuser();
    for (int i = from; i < to; i++) {
      assertOk(root.mkdirs("/" + i % 100));
      root.file("/" + i % 100 + "/" + i, 10_000);
    }
    harness.store.checkpoint(harness.log.size());
  }

  @Test
  void shouldLookAtNoFileNorExtent() throws Exception {
    Harness harness = new Harness(stores.open(), List.of(256 * Harness.MIB, 256 * Harness.MIB));
    write(harness, 0, FILES / 10);
    long few = visitsOfAStart(harness);
    write(harness, FILES / 10, FILES);
    assertThat(visitsOfAStart(harness)).isLessThanOrEqualTo(few + SHARDS);
    assertThat(few).isLessThan(1000);
  }

  @Test
  void shouldLookAtEachThatIsBeingWritten() throws Exception {
    Harness harness = new Harness(stores.open(), List.of(256 * Harness.MIB, 256 * Harness.MIB));
    write(harness, 0, 100);
    long before = visitsOfAStart(harness);
    Harness.Client root = harness.superuser();
    for (int i = 0; i < 50; i++) {
      OpenedFile file = root.opened("/open" + i);
      assertOk(root.grant(file, 1));
    }
    harness.store.checkpoint(harness.log.size());
    assertThat(visitsOfAStart(harness)).isBetween(before + 100, before + 500);
  }

  /** A log of which a checkpoint covers every entry may have none, and clocks may be set back. */
  @Test
  void shouldKnowTheLatestTimeFromTheCheckpointAlone() throws Exception {
    Harness harness = new Harness(stores.open(), List.of(16 * Harness.MIB));
    harness.timeMs = 5_000_000;
    assertOk(harness.superuser().mkdirs("/late"));
    long latest = harness.timeMs;
    harness.timeMs = 3_000_000;
    assertOk(harness.superuser().mkdirs("/early"));
    harness.restart();
    assertThat(harness.machine.latestTimeMs()).isEqualTo(latest);
  }
}
