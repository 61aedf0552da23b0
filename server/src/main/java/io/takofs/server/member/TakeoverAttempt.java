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
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the checkpoint of one member: connects, has it held, gives up the state here, reads
 * the pages and makes them the state.
 *
 * <p>Thread rule: one thread, which may wait.
 */
final class TakeoverAttempt implements CheckpointTakeover.Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(TakeoverAttempt.class);

  /** Reads under way; those of one attempt, of a MiB each at most. */
  private static final int READS_MAX = 64;

  private static final long AWAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final MemberLinks links;
  private final PageExports exports;
  private final MappedMemory pages;
  private final int self;
  private final MemberState state;

  /** What this member's part in the group makes of its page zone. */
  interface MemberState {
    /** The checkpoint must have all entries up to here. */
    long neededIndex();

    /**
     * Gives up the state that is in the page zone, which nobody uses any more then.
     *
     * @throws TakoException BUSY when that is not possible at the moment
     */
    void giveUp() throws TakoException;

    /** There is a state again. */
    void take(PagedStore store);

    /** Whether there is none. */
    boolean isGivenUp();
  }

  /**
   * @param exports the zone as it is registered
   * @param pages the zone
   * @param self number of this server
   */
  TakeoverAttempt(
      MemberLinks links, PageExports exports, MappedMemory pages, int self, MemberState state) {
    this.links = links;
    this.exports = exports;
    this.pages = pages;
    this.self = self;
    this.state = state;
  }

  @Override
  public void run(int server, BooleanSupplier stopped) throws IOException {
    long beganNs = Clock.SYSTEM.nanoTime();
    boolean hadState = !state.isGivenUp();
    try (PagesLink link = links.connectToPages(server, exports, READS_MAX);
        SnapshotReader reader = reader(link, server)) {
      read(link, server, reader, stopped);
      int count = reader.pagesTotal();
      PagedStore store = reader.finish();
      state.take(store);
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

  private SnapshotReader reader(PagesLink link, int server) {
    OpenSnapshot wanted =
        OpenSnapshot.newBuilder()
            .setGroup(ClusterTopology.NAMESPACE_GROUP)
            .setServer(self)
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
        state.giveUp();
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
      state.take(PagedStore.open(pages));
      LOG.info("the state that was given up is taken back: no page of another one has come");
    }
  }
}
