package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomWorkloadTest {
  private static final List<Long> ARENAS = List.of(4 * Harness.MIB, 2 * Harness.MIB);
  private static final int PAGES = 4096;

  private static Store heap() {
    return new HeapStore(Long.MAX_VALUE);
  }

  /** Every record, in order. */
  static List<String> dump(Store store) {
    List<String> records = new ArrayList<>();
    for (int map = 0; map <= Store.SHARDS; map++) {
      OrderedMap of = map < Store.SHARDS ? store.shard(map) : store.server();
      int number = map;
      of.scan(
          new byte[0],
          (key, value) ->
              records.add(
                  number
                      + " "
                      + HexFormat.of().formatHex(key)
                      + " "
                      + HexFormat.of().formatHex(value)));
    }
    return records;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void shouldBehaveLikeTheReferenceAndStayConsistent(long seed) {
    RandomWorkload workload = new RandomWorkload(new Harness(heap(), ARENAS), seed);
    for (int i = 0; i < 500; i++) {
      workload.step();
      Consistency.check(workload.server);
      if (i % 20 == 0) {
        workload.compare();
      }
    }
    workload.compare();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void shouldBehaveLikeTheReferenceOverRestarts(long seed) {
    Random random = new Random(seed);
    PagedStores pages = new PagedStores(PAGES);
    Harness server = new Harness(pages.open(), ARENAS);
    RandomWorkload workload = new RandomWorkload(server, seed);
    for (int restart = 0; restart < 30; restart++) {
      for (int i = random.nextInt(60); i >= 0; i--) {
        workload.step();
        checkpointIfDue(server);
      }
      if (random.nextBoolean()) {
        server.store.checkpoint(server.log.size());
      }
      restart(server, pages);
      Consistency.check(server);
      workload.compare();
    }
  }

  private static void checkpointIfDue(Harness server) {
    if (server.store.checkpointDue()) {
      server.store.checkpoint(server.log.size());
    }
  }

  /** As after a crash: the last checkpoint, and the log after it. */
  private static void restart(Harness server, PagedStores pages) {
    PagedStore store = pages.open();
    server.restart(store);
    for (int i = (int) store.checkpointIndex(); i < server.log.size(); i++) {
      checkpointIfDue(server);
      Reply reply = server.machine.apply(i + 1, server.log.get(i));
      assertThat(reply).isEqualTo(server.replies.get(i));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23, 24})
  void shouldMakeTheSameRecordsOfTheSameEntries(long seed) {
    Random random = new Random(seed);
    Harness server = new Harness(heap(), ARENAS);
    new RandomWorkload(server, seed).run(3000);
    Store store = heap();
    StateMachine replay = new StateMachine(store);
    store.onCheckpoint(replay::summarize);
    for (int i = 0; i < server.log.size(); i++) {
      LogEntry entry = server.log.get(i);
      assertThat(replay.apply(i + 1, entry)).isEqualTo(server.replies.get(i));
      if (random.nextInt(200) == 0) {
        // The heap does not count: begin again from the records and their summary.
        store.checkpoint(i + 1);
        replay = new StateMachine(store);
        store.onCheckpoint(replay::summarize);
      }
    }
    assertThat(dump(store)).isEqualTo(dump(server.store));
  }
}
