package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The checkpoint of one store, taken over by the zone of another one. */
class SnapshotZoneTest {
  private static final int PAGES = 256;
  private static final int BYTES = PAGES * Layout.PAGE_SIZE;

  private final ByteBuffer source = ByteBuffer.allocateDirect(BYTES);
  private final ByteBuffer target = ByteBuffer.allocateDirect(BYTES);
  private final ByteBuffer image = ByteBuffer.allocateDirect(BYTES);
  private final Model model = new Model();
  private final Model former = new Model();

  private static PagedStore filled(ByteBuffer memory, Model model, long seed, int ops)
      throws TakoException {
    PagedStore.format(PageMemory.of(memory));
    PagedStore store = PagedStore.open(PageMemory.of(memory));
    Random random = new Random(seed);
    for (int op = 1; op <= ops; op++) {
      change(store, model, random);
      if (random.nextInt(100) == 0 || store.checkpointDue()) {
        store.checkpoint(op);
      }
    }
    store.checkpoint(ops);
    return store;
  }

  private static void change(PagedStore store, Model model, Random random) throws TakoException {
    int tree = Store.SHARDS - random.nextInt(5);
    byte[] key = PagedStoreTest.key(random, 3);
    if (random.nextInt(3) > 0 && store.hasRoom(1)) {
      byte[] value = PagedStoreTest.value(random);
      Model.map(store, tree).put(key, value);
      model.tree(tree).put(key, value);
    } else {
      Model.map(store, tree).remove(key);
      model.tree(tree).remove(key);
    }
  }

  private static List<Integer> shuffled(HeldCheckpoint held, Random random) {
    List<Integer> pages = held.pages().stream().boxed().collect(Collectors.toList());
    Collections.shuffle(pages, random);
    return pages;
  }

  private void move(int page) {
    target.put(page * Layout.PAGE_SIZE, source, page * Layout.PAGE_SIZE, Layout.PAGE_SIZE);
  }

  private static void assertStatus(Throwable thrown, Status status, String... words) {
    assertThat(thrown).isInstanceOf(TakoException.class);
    assertThat(((TakoException) thrown).status()).as(thrown.getMessage()).isEqualTo(status);
    assertThat(thrown.getMessage()).contains(words);
  }

  private static void assertIncomplete(ByteBuffer memory, String when) {
    assertThat(SnapshotZone.isIncomplete(PageMemory.of(memory))).as(when).isTrue();
    assertStatus(
        catchThrowable(() -> PagedStore.open(PageMemory.of(memory))),
        Status.UNAVAILABLE,
        "not taken over to the end");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldBeTheStoreOfTheSource(long seed) throws Exception {
    Random random = new Random(seed);
    PagedStore from = filled(source, model, seed, 3000);
    filled(target, former, seed + 100, 2000);
    HeldCheckpoint held = from.hold();
    Model expected = new Model(model);
    SnapshotZone zone = SnapshotZone.begin(PageMemory.of(target), held.encoded(), held.pages());
    for (int page : shuffled(held, random)) {
      move(page);
      zone.take(page, 1);
      change(from, model, random);
      if (random.nextInt(20) == 0) {
        from.checkpoint(4000);
      }
    }
    assertThat(from.checkpointIndex()).isEqualTo(4000);
    assertThat(held.isHeld()).isTrue();
    PagedStore finished = zone.finish();
    for (PagedStore store : List.of(finished, PagedStore.open(PageMemory.of(target)))) {
      assertThat(store.checkpointIndex()).isEqualTo(held.index());
      expected.assertEquals(store, "seed " + seed);
    }
  }

  /** What the zone is found as at {@code when}: as it was, incomplete, or as the source. */
  private void assertSound(ByteBuffer memory, boolean mayBeFormer, boolean mayBeNew, String when) {
    Throwable thrown =
        catchThrowable(
            () -> {
              PagedStore store = PagedStore.open(PageMemory.of(memory));
              boolean isNew = store.checkpointIndex() == 3000;
              assertThat(isNew ? mayBeNew : mayBeFormer).as(when).isTrue();
              (isNew ? model : former).assertEquals(store, when);
            });
    if (thrown instanceof AssertionError failed) {
      throw failed;
    }
    if (thrown != null) {
      assertStatus(thrown, Status.UNAVAILABLE, "not taken over to the end");
    }
  }

  /** What is in memory, and the roots torn at every byte while they are replaced. */
  private final class Watched {
    private final byte[] roots = new byte[2 * Layout.PAGE_SIZE];
    private final ByteBuffer durable = ByteBuffer.allocateDirect(BYTES);
    private final Random random = new Random(5);
    private boolean mayBeFormer = true;
    private boolean mayBeNew;
    private int crashes;

    Watched() {
      target.get(0, roots);
      durable.put(0, target, 0, BYTES);
    }

    void persist(long offset, int length) {
      int at = (int) offset;
      if (at < 2 * Layout.PAGE_SIZE) {
        for (int written = 0; written <= Layout.CHECKPOINT_SIZE; written += 4) {
          image.put(0, target, 0, BYTES).put(0, roots);
          image.put(at, target, at, written);
          assertSound(image, mayBeFormer, mayBeNew, "roots at " + at + " torn at " + written);
        }
        target.get(0, roots);
      }
      crash("before " + offset + " is durable");
      durable.put(at, target, at, length);
      crash("after " + offset + " is durable");
    }

    /** The process dies, or power is lost: then what is not durable yet may be, or not. */
    void crash(String when) {
      image.put(0, target, 0, BYTES);
      assertSound(image, mayBeFormer, mayBeNew, when);
      for (int page = 0; page < PAGES; page++) {
        ByteBuffer kept = random.nextInt(3) == 0 ? target : durable;
        image.put(page * Layout.PAGE_SIZE, kept, page * Layout.PAGE_SIZE, Layout.PAGE_SIZE);
      }
      assertSound(image, mayBeFormer, mayBeNew, when + ", without power");
      crashes++;
    }
  }

  @Test
  void shouldNeverFindAMixtureWheneverItCrashes() throws Exception {
    HeldCheckpoint held = filled(source, model, 1, 3000).hold();
    filled(target, former, 2, 2000);
    Watched watched = new Watched();
    PageMemory memory = PageMemory.of(target, watched::persist);
    SnapshotZone zone = SnapshotZone.begin(memory, held.encoded(), held.pages());
    watched.mayBeFormer = false;
    watched.crash("after the beginning");
    assertIncomplete(target, "after the beginning");
    assertThat(Checkpoint.incompletePageCount(PageMemory.of(target)))
        .isEqualTo(PageMemory.of(source).pages());
    for (int page : shuffled(held, new Random(3))) {
      move(page);
      zone.take(page, 1);
      watched.crash("page " + page + " is there");
      assertIncomplete(target, "page " + page + " is there");
    }
    watched.mayBeNew = true;
    zone.finish();
    assertThat(watched.crashes).isGreaterThan(3 * held.pages().cardinality());
    PagedStore.open(PageMemory.of(watched.durable));
    model.assertEquals(PagedStore.open(PageMemory.of(watched.durable)), "durable");
  }

  @Test
  void shouldBeginAgainAfterACrash() throws Exception {
    HeldCheckpoint first = filled(source, model, 1, 500).hold();
    filled(target, former, 2, 2000);
    SnapshotZone given = SnapshotZone.begin(PageMemory.of(target), first.encoded(), first.pages());
    int some = first.pages().nextSetBit(0);
    move(some);
    given.take(some, 1);
    HeldCheckpoint second = filled(source, new Model(), 3, 1500).hold();
    SnapshotZone zone = SnapshotZone.begin(PageMemory.of(target), second.encoded(), second.pages());
    second.pages().stream().forEach(this::move);
    assertStatus(catchThrowable(zone::finish), Status.CORRUPT, "was not read");
    second.pages().stream().forEach(page -> zone.take(page, 1));
    assertThat(zone.finish().checkpointIndex()).isEqualTo(1500);
    assertThat(SnapshotZone.isIncomplete(PageMemory.of(target))).isFalse();
  }

  @Test
  void shouldReportEveryFlippedBitOfWhatWasRead() throws Exception {
    HeldCheckpoint held = filled(source, model, 8, 3000).hold();
    Random random = new Random(9);
    for (int flip = 0; flip < 300; flip++) {
      SnapshotZone zone = SnapshotZone.begin(PageMemory.of(target), held.encoded(), held.pages());
      List<Integer> pages = shuffled(held, random);
      for (int page : pages) {
        move(page);
        zone.take(page, 1);
      }
      int at = pages.get(0) * Layout.PAGE_SIZE + random.nextInt(Layout.PAGE_SIZE);
      target.put(at, (byte) (target.get(at) ^ 1 << random.nextInt(8)));
      assertStatus(
          catchThrowable(zone::finish),
          Status.CORRUPT,
          "page " + pages.get(0) + " of ",
          "CRC",
          "read again");
      assertIncomplete(target, "bit in page " + pages.get(0));
    }
  }

  /** A page of an earlier checkpoint may be whole and fit in, and is not the one that was meant. */
  @Test
  void shouldRefuseAPageThatWasNotReadThoughTheZoneHasOneThatFits() throws Exception {
    PagedStore from = filled(source, model, 4, 3000);
    HeldCheckpoint held = from.hold();
    target.put(0, source, 0, BYTES);
    for (int page = held.pages().nextSetBit(0);
        page >= 0;
        page = held.pages().nextSetBit(page + 1)) {
      SnapshotZone zone = SnapshotZone.begin(PageMemory.of(target), held.encoded(), held.pages());
      for (int each : shuffled(held, new Random(1))) {
        if (each != page) {
          zone.take(each, 1);
        }
      }
      assertStatus(
          catchThrowable(zone::finish), Status.CORRUPT, "page " + page + " was not read and is");
      assertIncomplete(target, "without page " + page);
    }
    int other = held.pages().nextClearBit(2);
    BitSet more = (BitSet) held.pages().clone();
    more.set(other);
    SnapshotZone zone = SnapshotZone.begin(PageMemory.of(target), held.encoded(), more);
    held.pages().stream().forEach(page -> zone.take(page, 1));
    zone.take(other, 1);
    assertStatus(
        catchThrowable(zone::finish), Status.CORRUPT, "page " + other + " was read and is not");
  }

  @Test
  void shouldRefuseASmallerZoneAndLeaveItAsItIs() throws Exception {
    HeldCheckpoint held = filled(source, model, 5, 1000).hold();
    ByteBuffer small = ByteBuffer.allocateDirect(BYTES - Layout.PAGE_SIZE);
    filled(small, former, 6, 1000);
    assertStatus(
        catchThrowable(
            () -> SnapshotZone.begin(PageMemory.of(small), held.encoded(), held.pages())),
        Status.NO_SPACE,
        "of 256 pages",
        "room for 255",
        "at least 2097152 bytes");
    former.assertEquals(PagedStore.open(PageMemory.of(small)), "untouched");
  }

  /** What fits follows from the group's size, whatever the zones of its members have besides. */
  @Test
  void shouldDecideAsTheGroupInALargerZone() throws Exception {
    Random random = new Random(7);
    PagedStore from = filled(source, model, 7, 500);
    HeldCheckpoint held = from.hold();
    ByteBuffer large = ByteBuffer.allocateDirect(3 * BYTES);
    PagedStore.format(PageMemory.of(large));
    SnapshotZone zone = SnapshotZone.begin(PageMemory.of(large), held.encoded(), held.pages());
    for (int page : shuffled(held, random)) {
      int at = page * Layout.PAGE_SIZE;
      large.put(at, source, at, Layout.PAGE_SIZE);
      zone.take(page, 1);
    }
    PagedStore to = zone.finish();
    held.close();
    int refused = 0;
    for (int op = 0; op < 5000; op++) {
      String what = "op " + op;
      int changes = 1 + random.nextInt(40);
      assertThat(to.hasRoom(changes)).as(what).isEqualTo(from.hasRoom(changes));
      from.beginEntry();
      to.beginEntry();
      assertThat(to.take(changes, changes)).as(what).isEqualTo(from.take(changes, changes));
      byte[] key = PagedStoreTest.key(random, 200);
      byte[] value = PagedStoreTest.value(random);
      Throwable one = catchThrowable(() -> from.server().put(key, value));
      OrderedMap map = to.server();
      Throwable two = catchThrowable(() -> map.put(key, value));
      assertThat(two == null).as(what).isEqualTo(one == null);
      refused += one == null ? 0 : 1;
      assertThat(to.pagesUsed()).as(what).isEqualTo(from.pagesUsed());
      assertThat(to.pagesTotal()).as(what).isEqualTo(from.pagesTotal());
      if (from.checkpointDue()) {
        from.checkpoint(op);
      }
      if (to.checkpointDue()) {
        to.checkpoint(op);
        to = PagedStore.open(PageMemory.of(large));
      }
    }
    assertThat(refused).isPositive();
  }

  @Test
  void shouldRefuseBytesThatAreNoCheckpointAndLeaveTheZoneAsItIs() throws Exception {
    HeldCheckpoint held = filled(source, model, 5, 1000).hold();
    filled(target, former, 6, 1000);
    List<ByteBuffer> wrong = new ArrayList<>();
    for (int bit = 0; bit < 8 * Layout.CHECKPOINT_SIZE; bit += 37) {
      ByteBuffer flipped = held.encoded();
      flipped.put(bit / 8, (byte) (flipped.get(bit / 8) ^ 1 << bit % 8));
      wrong.add(flipped);
    }
    wrong.add(ByteBuffer.allocate(0));
    wrong.add(held.encoded().limit(Layout.CHECKPOINT_SIZE - 1));
    wrong.add(new Checkpoint(1, 1, -1, new int[Layout.STORE_TREES]).encode());
    for (ByteBuffer each : wrong) {
      assertStatus(
          catchThrowable(() -> SnapshotZone.begin(PageMemory.of(target), each, held.pages())),
          Status.MALFORMED,
          "checkpoint");
    }
    for (int page : new int[] {0, 1, PAGES}) {
      BitSet pages = (BitSet) held.pages().clone();
      pages.set(page);
      assertStatus(
          catchThrowable(() -> SnapshotZone.begin(PageMemory.of(target), held.encoded(), pages)),
          Status.MALFORMED,
          "others");
    }
    former.assertEquals(PagedStore.open(PageMemory.of(target)), "untouched");
  }
}
