package io.takofs.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SnapshotPages;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import io.takofs.server.store.Store;
import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import io.takofs.transport.MemoryRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A source and a target with real stores; calls and reads proceed when a test says so. */
final class SnapshotRig implements AutoCloseable {
  static final int GROUP = 7;
  static final String TRANSPORT = "copying";

  /** Keys that the stores may have. */
  private static final int KEYS = 1500;

  private record Call(Request request, Consumer<Reply> answer) {}

  final ManualClock clock = new ManualClock();
  final Random random;
  final MappedMemory sourceZone;
  final MappedMemory targetZone;
  final Deque<Call> calls = new ArrayDeque<>();
  PagedStore store;
  SnapshotSource source;
  CopyingPair pair;
  SnapshotReader reader;
  UnaryOperator<Reply> onTheWay = reply -> reply;
  int pagesOfRead = 2;
  private int epoch;
  private final int pagesAtOnce;
  private final Map<Integer, byte[]> model = new TreeMap<>();
  private final Map<Long, Map<Integer, byte[]>> checkpoints = new TreeMap<>();
  private long index;

  /**
   * @param pages of the source's zone, and of the target's
   */
  SnapshotRig(Path directory, long seed, int pages, int targetPages, int pagesAtOnce)
      throws IOException {
    random = new Random(seed);
    this.pagesAtOnce = pagesAtOnce;
    sourceZone = MappedMemory.create(directory.resolve("source"), bytes(pages));
    targetZone = MappedMemory.create(directory.resolve("target"), bytes(targetPages));
    PagedStore.format(sourceZone);
    PagedStore.format(targetZone);
    restartSource();
    checkpoints.put(0L, Map.of());
  }

  private static long bytes(int pages) {
    return (long) pages * Layout.PAGE_SIZE;
  }

  /** The process of the source is started again: its store is that of its last checkpoint. */
  void restartSource() throws TakoException {
    store = PagedStore.open(sourceZone);
    index = store.checkpointIndex();
    model.clear();
    model.putAll(checkpoints.getOrDefault(index, Map.of()));
    source =
        new SnapshotSource(
            GROUP,
            ++epoch,
            clock,
            transport -> transport.equals(TRANSPORT) ? List.of(region(sourceZone)) : List.of(),
            pagesAtOnce);
    source.use(store);
  }

  private static MemoryRegion region(MappedMemory zone) {
    ByteBuffer memory = zone.slice(0, Math.toIntExact(zone.length()));
    return new BufferRegion(memory, 1L << 40, 5, Access.REMOTE_READ) {
      @Override
      public void close() {}
    };
  }

  // ---- the source's state machine ---------------------------------------------------------------

  private static byte[] key(int number) {
    return new byte[] {(byte) (number >>> 8), (byte) number};
  }

  private OrderedMap map(Store of, int number) {
    return of.shard(number % 3);
  }

  /** Entries, as a state machine applies them. */
  void entries(int count) throws TakoException {
    for (int i = 0; i < count; i++) {
      if (store.checkpointDue()) {
        checkpoint();
      }
      index++;
      int number = random.nextInt(KEYS);
      if (random.nextInt(4) == 0) {
        map(store, number).remove(key(number));
        model.remove(number);
      } else if (store.hasRoom(1)) {
        byte[] value = new byte[random.nextInt(600)];
        random.nextBytes(value);
        map(store, number).put(key(number), value);
        model.put(number, value);
      }
    }
  }

  void checkpoint() {
    store.checkpoint(index);
    checkpoints.put(index, new TreeMap<>(model));
  }

  /** Whether {@code taken} is a store of the source as it was at a checkpoint. */
  void assertIsCheckpoint(PagedStore taken, String when) {
    Map<Integer, byte[]> expected = checkpoints.get(taken.checkpointIndex());
    assertThat(expected).as(when).isNotNull();
    int count = 0;
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      int[] inShard = {0};
      taken
          .shard(shard)
          .scan(
              new byte[0],
              (key, value) -> {
                int number = (key[0] & 0xff) << 8 | (key[1] & 0xff);
                assertThat(Arrays.equals(value, expected.get(number))).as(when).isTrue();
                inShard[0]++;
                return true;
              });
      count += inShard[0];
    }
    assertThat(count).as(when).isEqualTo(expected.size());
  }

  // ---- the target -------------------------------------------------------------------------------

  void beginReading(long atLeastIndex) {
    pair = new CopyingPair(region(sourceZone));
    OpenSnapshot wanted =
        OpenSnapshot.newBuilder()
            .setGroup(GROUP)
            .setServer(2)
            .setTransport(TRANSPORT)
            .setAtLeastIndex(atLeastIndex)
            .build();
    reader =
        new SnapshotReader(
            wanted,
            (request, answer) -> calls.add(new Call(request, answer)),
            pair,
            targetZone,
            List.of(region(targetZone)),
            clock,
            pagesOfRead);
  }

  /** Another member has the last checkpoint held; returns its pages. */
  BitSet openForAnother() {
    OpenSnapshot wanted =
        OpenSnapshot.newBuilder().setGroup(GROUP).setServer(3).setTransport(TRANSPORT).build();
    SnapshotPages pages =
        source
            .handle(Request.newBuilder().setOpenSnapshot(wanted).build())
            .getSnapshotInfo()
            .getPages();
    BitSet all = new BitSet();
    BitSet.valueOf(pages.getBitmap().asReadOnlyByteBuffer()).stream()
        .forEach(page -> all.set(pages.getFirst() + page));
    return all;
  }

  boolean hasEnded() {
    return reader.isRead() || reader.failure() != null;
  }

  /** The oldest call reaches the source, and its answer the reader, which may begin then. */
  void answerOne() {
    listOne();
    beginIfListed();
  }

  /** The oldest call reaches the source, and its answer the reader, which begins nothing. */
  void listOne() {
    Call call = calls.remove();
    call.answer.accept(onTheWay.apply(source.handle(call.request)));
  }

  /** The oldest call reaches the source; returns the answer's arrival. */
  Runnable handleOne() {
    Call call = calls.remove();
    Reply reply = source.handle(call.request);
    return () -> {
      call.answer.accept(reply);
      beginIfListed();
    };
  }

  private void beginIfListed() {
    if (reader.isListed()) {
      reader.begin();
    }
  }

  /** The oldest call, or its answer, is lost. */
  void loseOne() {
    Call call = calls.remove();
    if (random.nextBoolean()) {
      source.handle(call.request);
    }
    call.answer.accept(
        Reply.newBuilder()
            .setStatus(Status.UNAVAILABLE)
            .setMessage("lost, as the test wants it")
            .build());
  }

  void completeOne() {
    pair.completeOne(reader::onCompletion);
    reader.tick();
  }

  /** Everything goes well until the reader has {@code pages}, or all and waits for answers. */
  void readUntil(int pages) {
    reader.tick();
    while (reader.pagesTotal() == 0 && !hasEnded()) {
      answerOne();
      reader.tick();
    }
    while (reader.pagesRead() < Math.min(pages, reader.pagesTotal()) && !hasEnded()) {
      completeOne();
    }
  }

  /** Everything goes well until the end. */
  void finishReading() {
    readUntil(Integer.MAX_VALUE);
    while (!hasEnded()) {
      reader.tick();
      answerOne();
    }
    calls.removeIf(
        call -> {
          call.answer.accept(source.handle(call.request));
          return true;
        });
  }

  /**
   * What a start of the target finds: nothing, or a checkpoint of the source, or an empty store.
   */
  void assertSound(String when) {
    if (SnapshotZone.isIncomplete(targetZone)) {
      return;
    }
    try {
      assertIsCheckpoint(PagedStore.open(targetZone), when);
    } catch (TakoException e) {
      throw new AssertionError(when, e);
    }
  }

  @Override
  public void close() {
    sourceZone.close();
    targetZone.close();
  }
}
