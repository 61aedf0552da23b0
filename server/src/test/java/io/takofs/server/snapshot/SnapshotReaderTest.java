package io.takofs.server.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.SnapshotInfo;
import io.takofs.proto.Status;
import io.takofs.server.store.HeldCheckpoint;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import io.takofs.transport.CompletionStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member reads the checkpoint of another one, and what may befall it. */
class SnapshotReaderTest {
  private static final int PAGES = 1024;
  private static final int ALL = 1 << 18;

  @TempDir private Path directory;

  private SnapshotRig rig(long seed) throws IOException {
    SnapshotRig rig = new SnapshotRig(directory, seed, PAGES, PAGES, ALL);
    rig.entries(3000);
    rig.checkpoint();
    return rig;
  }

  private static void assertFailed(SnapshotRig rig, Status status, String... words) {
    assertThat(rig.reader.failure()).isNotNull();
    assertThat(rig.reader.failure().getMessage()).contains(words);
    assertThat(rig.reader.failure().status()).isEqualTo(status);
    assertThat(rig.reader.isRead()).isFalse();
    rig.reader.close();
  }

  /** Another attempt, after whatever happened, gives the last checkpoint. */
  private static void assertSucceedsNext(SnapshotRig rig) throws TakoException {
    rig.onTheWay = reply -> reply;
    rig.calls.clear();
    rig.beginReading(rig.store.checkpointIndex());
    rig.finishReading();
    assertThat(rig.reader.isRead()).as("%s", rig.reader.failure()).isTrue();
    PagedStore taken = rig.reader.finish();
    assertThat(taken.checkpointIndex()).isEqualTo(rig.store.checkpointIndex());
    rig.assertIsCheckpoint(taken, "the next attempt");
    rig.assertIsCheckpoint(PagedStore.open(rig.targetZone), "the next attempt, opened");
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 50, ALL})
  void shouldTakeOverACheckpointWhileOthersAreMade(int pagesAtOnce) throws Exception {
    try (SnapshotRig rig = new SnapshotRig(directory, 1, PAGES, PAGES + 100, pagesAtOnce)) {
      rig.entries(3000);
      rig.checkpoint();
      long index = rig.store.checkpointIndex();
      rig.beginReading(index);
      rig.readUntil(1);
      assertThat(rig.reader.pagesTotal()).isGreaterThan(50);
      for (int pages = 2; pages < rig.reader.pagesTotal(); pages++) {
        rig.readUntil(pages);
        if (pages % 10 == 0) {
          rig.entries(5);
          rig.checkpoint();
        }
      }
      rig.finishReading();
      assertThat(rig.reader.failure()).isNull();
      assertThat(rig.source.held()).isZero();
      PagedStore taken = rig.reader.finish();
      assertThat(taken.checkpointIndex()).isEqualTo(index);
      rig.assertIsCheckpoint(taken, "taken over");
      rig.assertIsCheckpoint(PagedStore.open(rig.targetZone), "opened");
      assertThat(PagedStore.open(rig.targetZone).pagesTotal()).isEqualTo(rig.store.pagesTotal());
    }
  }

  /** Somebody may still use the zone. */
  @Test
  void shouldWriteNothingBeforeItIsToldTo() throws Exception {
    try (SnapshotRig rig = rig(3)) {
      rig.beginReading(0);
      rig.reader.tick();
      rig.listOne();
      for (int i = 0; i < 5; i++) {
        assertThat(rig.reader.isListed()).isTrue();
        assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isFalse();
        assertThat(rig.pair.isIdle()).isTrue();
        rig.clock.advance(Duration.ofSeconds(1));
        rig.reader.tick();
      }
      rig.reader.begin();
      rig.reader.begin();
      assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isTrue();
      rig.finishReading();
      rig.assertIsCheckpoint(rig.reader.finish(), "when it was told");
    }
  }

  @Test
  void shouldTakeOverAnEmptyStore() throws Exception {
    try (SnapshotRig rig = new SnapshotRig(directory, 1, PAGES, PAGES, ALL)) {
      rig.beginReading(0);
      rig.finishReading();
      assertThat(rig.reader.finish().pagesUsed()).isZero();
    }
  }

  @Test
  void shouldReadManyContiguousPagesAtOnceAndNotTooManyAhead() throws Exception {
    try (SnapshotRig rig = new SnapshotRig(directory, 1, 8 * PAGES, 8 * PAGES, ALL)) {
      for (int i = 0; i < 40_000; i++) {
        rig.store.server().put(("key" + i).getBytes(UTF_8), new byte[500]);
      }
      rig.checkpoint();
      rig.pagesOfRead = 128;
      rig.beginReading(0);
      rig.finishReading();
      assertThat(rig.reader.finish().pagesUsed()).isGreaterThan(2000);
      assertThat(rig.pair.mostBytes()).isBetween(7L << 20, 9L << 20);
    }
  }

  /** Breaks what is held: so much changes that its pages are needed. */
  private static void breakHold(SnapshotRig rig) throws TakoException {
    try (HeldCheckpoint younger = rig.store.hold()) {
      for (int i = 0; younger.isHeld(); i++) {
        assertThat(i).isLessThan(100);
        rig.entries(300);
        rig.checkpoint();
      }
    }
  }

  @Test
  void shouldNotTrustWhatItReadWhenTheSourceNeededThePages() throws Exception {
    try (SnapshotRig rig = tight(2)) {
      rig.beginReading(0);
      rig.readUntil(Integer.MAX_VALUE - 1);
      assertThat(rig.reader.pagesRead()).isEqualTo(rig.reader.pagesTotal());
      assertThat(rig.reader.isRead()).isFalse();
      breakHold(rig);
      rig.answerOne();
      assertFailed(rig, Status.UNAVAILABLE, "gave its checkpoint up");
      assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isTrue();
      assertSucceedsNext(rig);
    }
  }

  /** A zone so small that a hold does not outlive many changes. */
  private SnapshotRig tight(long seed) throws IOException {
    SnapshotRig rig = new SnapshotRig(directory, seed, 150, 150, ALL);
    rig.entries(3000);
    rig.checkpoint();
    return rig;
  }

  /** An answer that was given before the last page was read says nothing about that page. */
  @Test
  void shouldAskAgainWhenAllPagesAreThere() throws Exception {
    try (SnapshotRig rig = tight(3)) {
      rig.beginReading(0);
      rig.readUntil(10);
      rig.clock.advance(Duration.ofSeconds(3));
      rig.reader.tick();
      assertThat(rig.calls).hasSize(1);
      Runnable answer = rig.handleOne(); // it is held still
      breakHold(rig);
      rig.readUntil(Integer.MAX_VALUE - 1);
      rig.reader.tick();
      answer.run();
      assertThat(rig.hasEnded()).isFalse();
      rig.reader.tick();
      rig.answerOne();
      assertFailed(rig, Status.UNAVAILABLE, "gave its checkpoint up");
    }
  }

  @Test
  void shouldKeepTheCheckpointHeldAsLongAsItReads() throws Exception {
    try (SnapshotRig rig = rig(4)) {
      rig.beginReading(0);
      rig.readUntil(1);
      for (int s = 0; s < 60; s++) {
        rig.clock.advance(Duration.ofSeconds(1));
        rig.reader.tick();
        if (!rig.pair.isIdle() && s % 5 == 0) {
          rig.completeOne();
        }
        if (!rig.calls.isEmpty()) {
          rig.answerOne();
        }
        rig.source.tick();
      }
      assertThat(rig.source.held()).isEqualTo(1);
      rig.finishReading();
      assertThat(rig.reader.isRead()).as("%s", rig.reader.failure()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 20, Integer.MAX_VALUE - 1})
  void shouldGiveUpWhenTheSourceGoesAway(int pages) throws Exception {
    try (SnapshotRig rig = rig(5)) {
      rig.beginReading(0);
      rig.readUntil(pages);
      boolean begun = rig.reader.pagesTotal() > 0;
      for (int s = 0; s < 11; s++) {
        assertThat(rig.reader.failure()).isNull();
        rig.clock.advance(Duration.ofSeconds(1));
        rig.reader.tick();
      }
      assertFailed(rig, Status.UNAVAILABLE, "does not answer");
      assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isEqualTo(begun);
      rig.source.tick();
      assertThat(rig.source.held()).isZero();
      assertSucceedsNext(rig);
    }
  }

  @Test
  void shouldGiveUpWhenAReadFailsOrTheConnectionBreaks() throws Exception {
    try (SnapshotRig rig = rig(6)) {
      rig.beginReading(0);
      rig.readUntil(20);
      rig.pair.failOne(rig.reader::onCompletion, CompletionStatus.REMOTE_ACCESS_ERROR);
      assertFailed(rig, Status.DISCONNECTED, "the source", "REMOTE_ACCESS_ERROR");
      assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isTrue();
      assertThat(rig.source.held()).isEqualTo(1);
      rig.answerOne(); // it said that it needs it no longer
      assertThat(rig.source.held()).isZero();

      rig.beginReading(0);
      rig.readUntil(30);
      rig.pair.breakIt();
      rig.reader.tick();
      assertFailed(rig, Status.DISCONNECTED, "broke");
      assertSucceedsNext(rig);
    }
  }

  @Test
  void shouldGiveUpWhenTheSourceWasStartedAgain() throws Exception {
    try (SnapshotRig rig = rig(7)) {
      rig.beginReading(0);
      rig.readUntil(Integer.MAX_VALUE - 1);
      rig.restartSource();
      rig.openForAnother();
      rig.reader.tick();
      rig.answerOne();
      assertFailed(rig, Status.UNAVAILABLE, "gave its checkpoint up");
      assertSucceedsNext(rig);
    }
  }

  @Test
  void shouldRefuseFlippedBits() throws Exception {
    try (SnapshotRig rig = rig(8)) {
      BitSet pages = rig.openForAnother();
      for (int flip = 0; flip < 50; flip++) {
        rig.beginReading(0);
        rig.finishReading();
        int page = 0;
        while (page < 2 || !pages.get(page)) {
          page = rig.random.nextInt(PAGES);
        }
        int at = page * Layout.PAGE_SIZE + rig.random.nextInt(Layout.PAGE_SIZE);
        var bytes = rig.targetZone.slice(0, PAGES * Layout.PAGE_SIZE);
        bytes.put(at, (byte) (bytes.get(at) ^ 1 << rig.random.nextInt(8)));
        assertThatThrownBy(() -> rig.reader.finish())
            .isInstanceOf(TakoException.class)
            .hasFieldOrPropertyWithValue("status", Status.CORRUPT)
            .hasMessageContaining("page " + page + " of");
        assertThat(SnapshotZone.isIncomplete(rig.targetZone)).isTrue();
      }
      assertSucceedsNext(rig);
    }
  }

  private static UnaryOperator<Reply> changed(UnaryOperator<SnapshotInfo> change) {
    return reply ->
        reply.hasSnapshotInfo()
            ? reply.toBuilder().setSnapshotInfo(change.apply(reply.getSnapshotInfo())).build()
            : reply;
  }

  @Test
  void shouldKeepItsStoreWhenTheSourceSendsNonsense() throws Exception {
    try (SnapshotRig rig = rig(9)) {
      rig.beginReading(0);
      rig.finishReading();
      rig.reader.finish();
      for (UnaryOperator<SnapshotInfo> change :
          List.<UnaryOperator<SnapshotInfo>>of(
              info -> info.toBuilder().clearMemory().build(),
              info -> info.toBuilder().setCheckpoint(ByteString.EMPTY).build(),
              info -> info.toBuilder().setIndex(info.getIndex() + 1).build(),
              info -> info.toBuilder().setGeneration(info.getGeneration() + 1).build(),
              info -> info.toBuilder().setPages(info.getPages().toBuilder().setFirst(-5)).build(),
              info -> info.toBuilder().setPages(info.getPages().toBuilder().setFirst(0)).build(),
              info ->
                  info.toBuilder()
                      .setPages(info.getPages().toBuilder().setFirst(Integer.MAX_VALUE - 3))
                      .build(),
              info -> info.toBuilder().setPages(info.getPages().toBuilder().setNext(1)).build())) {
        rig.calls.clear();
        rig.onTheWay = changed(change);
        rig.beginReading(0);
        rig.reader.tick();
        rig.answerOne();
        assertFailed(rig, Status.MALFORMED, " ");
        rig.assertIsCheckpoint(PagedStore.open(rig.targetZone), "kept");
      }
      rig.onTheWay = changed(info -> info.toBuilder().setIndex(1).build());
      rig.calls.clear();
      rig.beginReading(2);
      rig.reader.tick();
      rig.answerOne();
      assertFailed(rig, Status.MALFORMED, "older");
      assertSucceedsNext(rig);
    }
  }

  /** Bytes of replies change at random: attempts fail, or give what the source had. */
  @Test
  void shouldTakeNothingWrongFromRepliesThatAreDamaged() throws Exception {
    try (SnapshotRig rig = rig(10)) {
      int failed = 0;
      for (int round = 0; round < 300; round++) {
        rig.calls.clear();
        rig.onTheWay = reply -> damaged(reply, rig.random);
        rig.beginReading(0);
        for (int turn = 0; turn < 2000 && !rig.hasEnded(); turn++) {
          rig.reader.tick();
          if (!rig.calls.isEmpty()) {
            rig.answerOne();
          } else if (rig.reader.pagesTotal() > 0 && !rig.pair.isIdle()) {
            try {
              rig.completeOne();
            } catch (IndexOutOfBoundsException | ArithmeticException e) {
              rig.pair.failOne(rig.reader::onCompletion, CompletionStatus.REMOTE_ACCESS_ERROR);
            }
          } else {
            rig.clock.advance(Duration.ofSeconds(1));
          }
        }
        assertThat(rig.hasEnded()).as("round " + round).isTrue();
        if (rig.reader.isRead()) {
          try {
            rig.assertIsCheckpoint(rig.reader.finish(), "round " + round);
          } catch (TakoException e) {
            assertThat(e.status()).isEqualTo(Status.CORRUPT);
          }
        } else {
          failed++;
        }
        rig.reader.close();
        rig.assertSound("round " + round);
      }
      assertThat(failed).isPositive();
      assertSucceedsNext(rig);
    }
  }

  private static Reply damaged(Reply reply, Random random) {
    byte[] bytes = reply.toByteArray();
    if (bytes.length == 0 || random.nextInt(3) == 0) {
      return reply;
    }
    bytes[random.nextInt(Math.min(bytes.length, 1 << random.nextInt(12)))] ^=
        (byte) (1 << random.nextInt(8));
    try {
      return Reply.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      return reply;
    }
  }

  /** Whatever happens, in whatever order: the zone is never a mixture, and at last succeeds. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldNeverMixWhateverHappens(long seed) throws Exception {
    Random random = new Random(seed);
    int finished = 0;
    int failed = 0;
    try (SnapshotRig rig = random.nextBoolean() ? tight(seed) : rig(seed)) {
      rig.beginReading(0);
      for (int turn = 0; turn < 20_000; turn++) {
        String when = "seed " + seed + ", turn " + turn;
        int dice = random.nextInt(1000);
        if (dice < 500) {
          if (!rig.pair.isIdle()) {
            rig.pair.completeOne(rig.reader::onCompletion);
          }
        } else if (dice < 700) {
          rig.reader.tick();
        } else if (dice < 850) {
          if (!rig.calls.isEmpty()) {
            rig.answerOne();
          }
        } else if (dice < 855) {
          if (!rig.calls.isEmpty()) {
            rig.loseOne();
          }
        } else if (dice < 960) {
          rig.entries(1 + random.nextInt(20));
        } else if (dice < 985) {
          rig.checkpoint();
        } else if (dice < 990) {
          rig.clock.advanceMillis(random.nextInt(3000));
          rig.source.tick();
        } else if (dice < 991) {
          rig.pair.breakIt();
        } else if (dice < 992) {
          rig.restartSource();
        } else if (dice < 994) {
          rig.assertSound(when + ", crash");
          rig.reader.close();
          rig.beginReading(0);
        }
        if (rig.reader.isRead()) {
          rig.assertIsCheckpoint(rig.reader.finish(), when);
          rig.assertIsCheckpoint(PagedStore.open(rig.targetZone), when);
          rig.beginReading(0);
          finished++;
        } else if (rig.reader.failure() != null) {
          rig.reader.close();
          rig.assertSound(when);
          rig.beginReading(0);
          failed++;
        }
      }
      rig.reader.close();
      assertSucceedsNext(rig);
    }
    assertThat(finished).isPositive();
    assertThat(failed).isPositive();
  }
}
