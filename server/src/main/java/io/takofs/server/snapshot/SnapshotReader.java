package io.takofs.server.snapshot;

import io.takofs.base.Clock;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CloseSnapshot;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.RenewSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SnapshotInfo;
import io.takofs.proto.SnapshotMemory;
import io.takofs.proto.SnapshotPages;
import io.takofs.proto.SnapshotState;
import io.takofs.proto.Status;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One attempt to take over the last checkpoint of another member: has it held, reads its pages
 * one-sided into the page zone of this member, and makes them its store.
 *
 * <p>The zone keeps what it has until the first page is read; from then on it has no checkpoint
 * until {@link #finish}. The source may give its pages up while they are read. So what was read
 * counts only when the source says, asked after the last page was here, that it still holds them;
 * the CRCs of the pages are a second net.
 *
 * <pre>{@code
 * reader.tick();                                    // every few milliseconds
 * queue.poll(reader::onCompletion, 64);             // and a tick after it
 * if (reader.isListed()) reader.begin();            // when no store is open in the zone any more
 * if (reader.failure() != null) reader.close();     // and another attempt
 * if (reader.isRead()) store = reader.finish();
 * }</pre>
 *
 * <p>Thread rule: any thread; holds its own monitor. Nothing but {@link #finish} waits.
 */
public final class SnapshotReader implements AutoCloseable {
  /** Bytes that are asked for ahead of those that are there. */
  private static final int AHEAD_BYTES_MAX = 8 << 20;

  private static final int READ_BYTES_MAX = 1 << 20;
  private static final int READS_MAX = 64;
  private static final int PAGES_OF_REGION = Layout.ARENA_SIZE / Layout.PAGE_SIZE;

  private static final long RENEW_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private enum Step {
    /** Has the source hold its checkpoint. */
    OPENING,
    /** Asks for the rest of the list of its pages. */
    LISTING,
    /** Waits until nobody uses the zone. */
    LISTED,
    READING,
    /** Asks whether the source held the pages until the last one was here. */
    CONFIRMING,
    /** All pages are here and count. */
    READ,
    /** Finished, failed or closed. */
    ENDED
  }

  /** Pages that are read at once. */
  private record Run(int first, int count) {}

  private final OpenSnapshot wanted;
  private final SourceCalls source;
  private final QueuePair pair;
  private final MappedMemory zone;
  private final List<MemoryRegion> regions;
  private final Clock clock;
  private final int pagesAtOnce;
  private final ScatterGather piece = new ScatterGather();
  private final ArrayDeque<Run> underWay = new ArrayDeque<>();
  private final BitSet pages = new BitSet();
  private Step step = Step.OPENING;
  private TakoException failure;
  private SnapshotInfo info;
  private boolean held; // by the source, as far as this end knows
  private SnapshotZone target;
  private int nextList;
  private int nextPage;
  private int pagesUnderWay;
  private int pagesRead;
  private boolean asking;
  private long dueNs;
  private long progressNs;

  /**
   * @param wanted what the source is asked for
   * @param pair connected to the source, in the domain of {@code regions}; closed with this
   * @param zone the page zone of this member, in which no store is open any more when {@link
   *     #begin} is called
   * @param regions the same, registered: a GiB a region but the last one
   */
  public SnapshotReader(
      OpenSnapshot wanted,
      SourceCalls source,
      QueuePair pair,
      MappedMemory zone,
      List<MemoryRegion> regions,
      Clock clock) {
    this(wanted, source, pair, zone, regions, clock, READ_BYTES_MAX / Layout.PAGE_SIZE);
  }

  SnapshotReader(
      OpenSnapshot wanted,
      SourceCalls source,
      QueuePair pair,
      MappedMemory zone,
      List<MemoryRegion> regions,
      Clock clock,
      int pagesAtOnce) {
    this.wanted = wanted;
    this.source = source;
    this.pair = pair;
    this.zone = zone;
    this.regions = List.copyOf(regions);
    this.clock = clock;
    this.pagesAtOnce = pagesAtOnce;
    this.dueNs = clock.nanoTime();
    this.progressNs = dueNs;
  }

  /** Whether all is known that is to be read: {@link #begin} has it read. */
  public synchronized boolean isListed() {
    return step == Step.LISTED;
  }

  /** The checkpoint has all entries up to here; asked when {@link #isListed}. */
  public synchronized long index() {
    return info.getIndex();
  }

  /** Whether all pages are here and count: {@link #finish} makes a store of them. */
  public synchronized boolean isRead() {
    return step == Step.READ;
  }

  /** Why the attempt has ended without a store; null while it has not. */
  public synchronized TakoException failure() {
    return failure;
  }

  /** Pages that are here. */
  public synchronized int pagesRead() {
    return pagesRead;
  }

  /** Pages of the checkpoint; 0 until the list of them is here. */
  public synchronized int pagesTotal() {
    return target == null ? 0 : pages.cardinality();
  }

  /** Does what is due. */
  public synchronized void tick() {
    long now = clock.nanoTime();
    if (step == Step.READ || step == Step.ENDED) {
      return;
    }
    if (pair.state() != QueuePair.State.CONNECTED) {
      fail(Status.DISCONNECTED, "the connection to the source broke: " + pair.errorText());
    } else if (now - progressNs > SnapshotSource.SILENCE_MAX_NS) {
      fail(Status.UNAVAILABLE, pair.remoteName() + " does not answer");
    } else if (step == Step.READING) {
      read();
    }
    if (!asking && now - dueNs >= 0) {
      ask();
    }
  }

  private void ask() {
    switch (step) {
      case OPENING -> call(Request.newBuilder().setOpenSnapshot(wanted).build(), this::onOpened);
      case LISTING -> renew(nextList, this::onListed);
      case READING -> renew(0, this::onRenewed);
      case CONFIRMING -> renew(0, this::onConfirmed);
      case LISTED, READ, ENDED -> {}
    }
  }

  private void renew(int pagesFrom, OnAnswer then) {
    RenewSnapshot renew =
        RenewSnapshot.newBuilder()
            .setGroup(wanted.getGroup())
            .setSnapshot(info.getSnapshot())
            .setPagesFrom(pagesFrom)
            .build();
    call(Request.newBuilder().setRenewSnapshot(renew).build(), then);
  }

  /** Takes an answer of the source. */
  private interface OnAnswer {
    void take(Reply reply) throws TakoException;
  }

  private void call(Request request, OnAnswer then) {
    asking = true;
    source.call(request, reply -> onAnswer(reply, then));
  }

  private synchronized void onAnswer(Reply reply, OnAnswer then) {
    asking = false;
    if (step == Step.ENDED) {
      if (reply.hasSnapshotInfo()) {
        end(reply.getSnapshotInfo().getSnapshot()); // nobody waits for it any more
      }
      return;
    }
    try {
      then.take(reply);
    } catch (TakoException e) {
      fail(e);
    } catch (UncheckedIOException e) {
      fail(Status.UNAVAILABLE, "the page zone cannot be written durably: " + e);
    }
  }

  // ---- what is to be read -----------------------------------------------------------------------

  private void onOpened(Reply reply) throws TakoException {
    checkOk(reply);
    info = reply.getSnapshotInfo();
    held = true;
    if (info.getIndex() < wanted.getAtLeastIndex()) {
      throw malformed("a checkpoint that is older than was asked for");
    }
    list(info.getPages(), 0);
  }

  private void onListed(Reply reply) throws TakoException {
    checkOk(reply);
    checkHeld(reply.getSnapshotState());
    list(reply.getSnapshotState().getPages(), nextList);
  }

  private void list(SnapshotPages some, int from) throws TakoException {
    int first = some.getFirst();
    int next = some.getNext();
    BitSet found = BitSet.valueOf(some.getBitmap().asReadOnlyByteBuffer());
    if (first < from || next < 0 || (next > 0 && next <= first)) {
      throw malformed("a list of pages that does not go on");
    }
    if ((long) first + found.length() > (long) PAGES_OF_REGION * info.getMemoryCount()) {
      throw malformed("pages outside of its memory");
    }
    found.stream().forEach(page -> pages.set(first + page));
    nextList = next;
    progressNs = clock.nanoTime();
    dueNs = progressNs;
    step = Step.LISTING;
    if (next == 0) {
      step = Step.LISTED;
    }
  }

  /**
   * Gives up what is in the zone and begins to read into it. What is wrong with the list shows now,
   * by {@link #failure}; whether the zone is as it was then, by {@link SnapshotZone#isIncomplete}.
   */
  public synchronized void begin() {
    if (step != Step.LISTED) {
      return; // it has failed meanwhile
    }
    try {
      beginReading();
    } catch (TakoException e) {
      fail(e);
    }
  }

  private void beginReading() throws TakoException {
    Invariant.check(
        (long) PAGES_OF_REGION * regions.size() * Layout.PAGE_SIZE >= zone.length(),
        "the whole zone is registered");
    ByteBuffer roots = info.getCheckpoint().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    if (roots.remaining() != Layout.CHECKPOINT_SIZE
        || roots.getLong(Layout.CHECKPOINT_INDEX_OFFSET) != info.getIndex()
        || roots.getLong(Layout.CHECKPOINT_GENERATION_OFFSET) != info.getGeneration()) {
      throw malformed("the roots of another checkpoint than it says");
    }
    target = SnapshotZone.begin(zone, roots, pages);
    step = Step.READING;
    dueNs = progressNs + RENEW_NS; // of the list: whoever used the zone may have kept it since
    progressNs = clock.nanoTime();
    nextPage = pages.nextSetBit(0);
    read();
  }

  // ---- reading ----------------------------------------------------------------------------------

  /** Asks for pages until enough are under way. */
  private void read() {
    boolean posted = false;
    while (nextPage >= 0
        && pagesUnderWay < AHEAD_BYTES_MAX / Layout.PAGE_SIZE
        && underWay.size() < READS_MAX
        && pair.sendSlotsFree() > 0) {
      post(nextRun());
      posted = true;
    }
    if (posted) {
      pair.ring();
    }
    if (nextPage < 0 && underWay.isEmpty()) {
      step = Step.CONFIRMING;
      dueNs = clock.nanoTime();
    }
  }

  private Run nextRun() {
    int end = Math.min(pages.nextClearBit(nextPage), nextPage + pagesAtOnce);
    end = Math.min(end, (nextPage / PAGES_OF_REGION + 1) * PAGES_OF_REGION);
    Run run = new Run(nextPage, end - nextPage);
    nextPage = pages.nextSetBit(end);
    return run;
  }

  private void post(Run run) {
    int region = run.first / PAGES_OF_REGION;
    int offset = run.first % PAGES_OF_REGION * Layout.PAGE_SIZE;
    SnapshotMemory from = info.getMemory(region);
    piece.clear().add(regions.get(region), offset, run.count * Layout.PAGE_SIZE);
    pair.read(run.first, piece, from.getAddress() + offset, from.getRkey(), QueuePair.SIGNALED);
    underWay.add(run);
    pagesUnderWay += run.count;
  }

  /** For the queue's poll. */
  public synchronized void onCompletion(
      QueuePair of, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    if (of != pair || step != Step.READING) {
      return;
    }
    if (status != CompletionStatus.SUCCESS) {
      fail(
          Status.DISCONNECTED,
          "page %d of %s cannot be read: %s %s"
              .formatted(id, pair.remoteName(), status, pair.errorText()));
      return;
    }
    Run run = underWay.remove(); // reads complete in order
    Invariant.check(run.first == id, "reads of one pair complete in order");
    target.take(run.first, run.count);
    pagesUnderWay -= run.count;
    pagesRead += run.count;
    progressNs = clock.nanoTime();
  }

  // ---- whether it counts ------------------------------------------------------------------------

  /** An answer that did not come is asked for again: the source waits for some seconds. */
  private void onRenewed(Reply reply) throws TakoException {
    boolean answered = reply.getStatus() == Status.OK;
    if (answered) {
      checkHeld(reply.getSnapshotState());
    }
    if (step == Step.READING) {
      dueNs = clock.nanoTime() + (answered ? RENEW_NS : RETRY_NS);
    }
  }

  /** The question was asked when all pages were here. */
  private void onConfirmed(Reply reply) throws TakoException {
    if (reply.getStatus() != Status.OK) {
      dueNs = clock.nanoTime() + RETRY_NS;
      return;
    }
    checkHeld(reply.getSnapshotState());
    step = Step.READ;
    end(info.getSnapshot());
  }

  /**
   * Verifies the pages and makes them the store of this member, which takes some seconds for many
   * GiB.
   *
   * @throws TakoException CORRUPT when a page is not what its checkpoint had; the zone has no
   *     checkpoint then, and another attempt is needed
   * @throws UncheckedIOException when the medium does not keep them; the same
   */
  public synchronized PagedStore finish() throws TakoException {
    Invariant.check(step == Step.READ, "a checkpoint is read before it is used");
    step = Step.ENDED;
    pair.close();
    return target.finish();
  }

  // ---- the end ----------------------------------------------------------------------------------

  private void checkOk(Reply reply) throws TakoException {
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), pair.remoteName() + ": " + reply.getMessage());
    }
  }

  private void checkHeld(SnapshotState state) throws TakoException {
    if (!state.getHeld()) {
      throw new TakoException(
          Status.UNAVAILABLE,
          pair.remoteName() + " gave its checkpoint up while it was read; another is needed");
    }
  }

  private TakoException malformed(String what) {
    return new TakoException(Status.MALFORMED, pair.remoteName() + " sent " + what);
  }

  private void fail(Status status, String why) {
    fail(new TakoException(status, why));
  }

  private void fail(TakoException why) {
    failure = why;
    step = Step.ENDED;
  }

  /** The source need not hold its checkpoint any longer. */
  private void end(long snapshot) {
    held = false;
    CloseSnapshot close =
        CloseSnapshot.newBuilder().setGroup(wanted.getGroup()).setSnapshot(snapshot).build();
    source.call(Request.newBuilder().setCloseSnapshot(close).build(), reply -> {});
  }

  /**
   * Ends the attempt, if it has not ended, and the connection: when this returns nothing is written
   * to the zone any more.
   */
  @Override
  public synchronized void close() {
    step = Step.ENDED;
    pair.close();
    if (held) {
      end(info.getSnapshot());
    }
  }
}
