package io.takofs.server.member;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.Status;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.snapshot.SnapshotReader;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the checkpoint of one member: connects, has it held, gives up the state here, reads
 * the pages and makes them the state.
 *
 * <p>Thread rule: {@link #begin} from any thread; each attempt has another, which may wait.
 */
final class TakeoverAttempt implements CheckpointTakeover.Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(TakeoverAttempt.class);

  /** Reads under way; those of one attempt, of a MiB each at most. */
  private static final int READS_MAX = 64;

  private static final long AWAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final MemberLinks links;
  private final PageExports exports;
  private final MappedMemory pages;
  private final IntSupplier self;
  private final MemberState state;
  private final Consumer<PagedStore> use;
  private final Executor threads;

  /**
   * @param exports the zone as it is registered
   * @param pages the zone
   * @param self number of this server
   * @param use has the owner use the store that is in the zone
   * @param threads that may wait
   */
  TakeoverAttempt(
      MemberLinks links,
      PageExports exports,
      MappedMemory pages,
      IntSupplier self,
      MemberState state,
      Consumer<PagedStore> use,
      Executor threads) {
    this.links = links;
    this.exports = exports;
    this.pages = pages;
    this.self = self;
    this.state = state;
    this.use = use;
    this.threads = threads;
  }

  @Override
  public void begin(int server, BooleanSupplier stopped, Consumer<Throwable> ended) {
    try {
      threads.execute(() -> ended.accept(failure(server, stopped)));
    } catch (RuntimeException | Error e) { // this server stops, or no thread can be made
      ended.accept(e);
    }
  }

  private Throwable failure(int server, BooleanSupplier stopped) {
    try {
      run(server, stopped);
      return null;
    } catch (Exception | Error e) {
      return e;
    }
  }

  private void run(int server, BooleanSupplier stopped) throws IOException {
    long beganNs = Clock.SYSTEM.nanoTime();
    boolean hadState = !state.isGivenUp();
    try (PagesLink link = links.connectToPages(server, exports, READS_MAX);
        SnapshotReader reader = reader(link, server)) {
      read(link, server, reader, stopped);
      int count = reader.pagesTotal();
      PagedStore store = reader.finish();
      take(store);
      Facts.of("server", server)
          .and("index", store.checkpointIndex())
          .and("mib", (long) count * Layout.PAGE_SIZE / (1 << 20))
          .and("ms", TimeUnit.NANOSECONDS.toMillis(Clock.SYSTEM.nanoTime() - beganNs))
          .info(LOG, "a checkpoint was taken over");
    } finally {
      if (hadState) {
        takeBack();
      }
    }
  }

  private void take(PagedStore store) {
    state.take(store.checkpointIndex(), () -> use.accept(store));
  }

  private SnapshotReader reader(PagesLink link, int server) {
    OpenSnapshot wanted =
        OpenSnapshot.newBuilder()
            .setGroup(ClusterTopology.NAMESPACE_GROUP)
            .setServer(self.getAsInt())
            .setTransport(link.via().transport())
            .setAtLeastIndex(state.neededIndex())
            .build();
    return new SnapshotReader(
        wanted,
        (request, answer) -> links.call(server, request, answer),
        link.pair(),
        pages,
        link.via().regions(),
        Clock.SYSTEM);
  }

  private void read(PagesLink link, int server, SnapshotReader reader, BooleanSupplier stopped)
      throws TakoException {
    while (!reader.isRead()) {
      if (stopped.getAsBoolean()) {
        throw new TakoException(Status.UNAVAILABLE, "the server stops");
      }
      reader.tick();
      if (reader.isListed()) {
        state.giveUp(reader.index());
        Facts.of("server", server)
            .info(LOG, "the state here is given up for the checkpoint of another member");
        reader.begin();
      }
      if (reader.failure() != null) {
        throw reader.failure();
      }
      link.queue().await(AWAIT_NS);
      link.queue().poll(reader::onCompletion, READS_MAX);
    }
  }

  /** What was given up, and is there as it was, is the state again. */
  private void takeBack() throws TakoException {
    if (state.isGivenUp() && !SnapshotZone.isIncomplete(pages)) {
      take(PagedStore.open(pages));
      LOG.info("the state that was given up is taken back: no page of another one has come");
    }
  }
}
