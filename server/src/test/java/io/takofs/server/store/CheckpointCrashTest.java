package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory after a crash or a bad bit, opened again. */
class CheckpointCrashTest {
  private static final int PAGES = 256;
  private static final int BYTES = PAGES * Layout.PAGE_SIZE;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(BYTES);
  private final ByteBuffer image = ByteBuffer.allocateDirect(BYTES);
  private final Model model = new Model();
  private Model checkpointed = new Model();
  private Model frozen;
  private PagedStore store;

  private void format() throws TakoException {
    PagedStore.format(PageMemory.of(memory));
    store = PagedStore.open(PageMemory.of(memory));
  }

  private void change(Random random) throws TakoException {
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

  private PagedStore crashAndOpen() throws TakoException {
    image.put(0, memory, 0, BYTES);
    return PagedStore.open(PageMemory.of(image));
  }

  private void begin(long index) {
    if (frozen == null) {
      store.beginCheckpoint(index);
      frozen = new Model(model);
    }
  }

  private void advance(int pages) {
    if (store.advanceCheckpoint(pages) && frozen != null) {
      checkpointed = frozen;
      frozen = null;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldOpenAtTheLastFinishedCheckpointWheneverItCrashes(long seed) throws Exception {
    Random random = new Random(seed);
    format();
    int opened = 0;
    for (int op = 1; op <= 20_000; op++) {
      change(random);
      if (random.nextInt(500) == 0) {
        begin(op);
      }
      if (random.nextInt(4) == 0) {
        advance(1);
      }
      if (store.checkpointDue()) {
        advance(Integer.MAX_VALUE);
        begin(op);
        advance(Integer.MAX_VALUE);
      }
      if (random.nextInt(100) == 0) {
        String when = "seed " + seed + ", crash after op " + op;
        PagedStore after = crashAndOpen();
        assertThat(after.checkpointIndex()).as(when).isEqualTo(store.checkpointIndex());
        checkpointed.assertEquals(after, when);
        opened++;
      }
      if (random.nextInt(3000) == 0) {
        store = PagedStore.open(PageMemory.of(memory));
        frozen = null;
        for (int tree = 0; tree <= Store.SHARDS; tree++) {
          model.tree(tree).clear();
          model.tree(tree).putAll(checkpointed.tree(tree));
        }
      }
    }
    assertThat(opened).isGreaterThan(100);
  }

  @Test
  void shouldBeWholeAfterACrashAtEveryByteOfTheRoots() throws Exception {
    Random random = new Random(7);
    format();
    for (int op = 0; op < 300; op++) {
      change(random);
    }
    store.checkpoint(1);
    Model first = new Model(model);
    for (int op = 0; op < 100; op++) {
      change(random);
    }
    store.beginCheckpoint(2);
    byte[] before;
    do {
      assertThat(crashAndOpen().checkpointIndex()).isEqualTo(1);
      before = roots();
    } while (!store.advanceCheckpoint(1));
    byte[] after = roots();
    for (int one = 0; one < before.length; one += Layout.PAGE_SIZE) {
      int other = Layout.PAGE_SIZE - one;
      byte[] torn = before.clone();
      for (int written = 0; written <= Layout.CHECKPOINT_SIZE; written++) {
        System.arraycopy(after, one, torn, one, written);
        assertWhole(torn, first, "copy at " + one + " torn at " + written);
      }
      for (int written = 0; written <= Layout.CHECKPOINT_SIZE; written++) {
        System.arraycopy(after, other, torn, other, written);
        assertThat(assertWhole(torn, first, "copy at " + other + " torn at " + written))
            .isEqualTo(2);
      }
    }
  }

  /** Opens what is in memory, but with these {@code roots}; returns the checkpoint it is at. */
  private long assertWhole(byte[] roots, Model first, String when) throws TakoException {
    image.put(0, memory, 0, BYTES).put(0, roots);
    PagedStore opened = PagedStore.open(PageMemory.of(image));
    (opened.checkpointIndex() == 1 ? first : model).assertEquals(opened, when);
    return opened.checkpointIndex();
  }

  private byte[] roots() {
    byte[] bytes = new byte[2 * Layout.PAGE_SIZE];
    memory.get(0, bytes);
    return bytes;
  }

  @Test
  void shouldReportEveryFlippedBitOfAPageInUse() throws Exception {
    Random random = new Random(8);
    format();
    for (int op = 0; op < 3000; op++) {
      change(random);
    }
    store.checkpoint(1);
    int corrupt = 0;
    for (int flip = 0; flip < 500; flip++) {
      long bit = 8L * 2 * Layout.PAGE_SIZE + random.nextInt(8 * (BYTES - 2 * Layout.PAGE_SIZE));
      image.put(0, memory, 0, BYTES);
      flip(bit);
      Throwable thrown = catchThrowable(() -> PagedStore.open(PageMemory.of(image)));
      long page = bit / 8 / Layout.PAGE_SIZE;
      if (thrown == null) {
        model.assertEquals(PagedStore.open(PageMemory.of(image)), "bit " + bit);
      } else {
        assertCorrupt(thrown, "page " + page + " of ", "CRC");
        corrupt++;
      }
    }
    long expected = 500 * store.pagesUsed() / (PAGES - 2);
    assertThat((long) corrupt).isBetween(expected / 2, expected * 2);
  }

  @Test
  void shouldOpenWithOneCopyOfTheRootsDamagedAndRefuseTwo() throws Exception {
    Random random = new Random(9);
    format();
    for (int op = 0; op < 500; op++) {
      change(random);
    }
    store.checkpoint(5);
    for (int copy = 0; copy < 2; copy++) {
      for (int bit = 0; bit < 8 * Layout.CHECKPOINT_SIZE; bit += 1 + random.nextInt(40)) {
        image.put(0, memory, 0, BYTES);
        flip(8L * copy * Layout.PAGE_SIZE + bit);
        PagedStore opened = PagedStore.open(PageMemory.of(image));
        model.assertEquals(opened, "copy " + copy + ", bit " + bit);
        assertThat(image.slice(0, BYTES)).as("repaired").isEqualTo(memory.slice(0, BYTES));
      }
    }
    flip(40);
    flip(8L * Layout.PAGE_SIZE + 41);
    assertCorrupt(
        catchThrowable(() -> PagedStore.open(PageMemory.of(image))), "both copies", "remove");
  }

  @Test
  void shouldReportAPageThatIsWholeButInTheWrongPlace() throws Exception {
    Random random = new Random(10);
    format();
    for (int op = 0; op < 2000; op++) {
      change(random);
    }
    store.checkpoint(1);
    int one = Checkpoint.read(PageMemory.of(memory)).roots()[Store.SHARDS];
    int two = Checkpoint.read(PageMemory.of(memory)).roots()[Store.SHARDS - 1];
    image.put(0, memory, 0, BYTES);
    image.put(one * Layout.PAGE_SIZE, memory, two * Layout.PAGE_SIZE, Layout.PAGE_SIZE);
    assertCorrupt(
        catchThrowable(() -> PagedStore.open(PageMemory.of(image))),
        "page " + one + " of the server's map",
        "another page");
  }

  @Test
  void shouldRefuseAZoneOfAnotherSize() throws Exception {
    format();
    ByteBuffer half = memory.slice(0, BYTES / 2);
    assertCorrupt(
        catchThrowable(() -> PagedStore.open(PageMemory.of(half))), PAGES + " pages", "this one");
  }

  private void flip(long bit) {
    int at = (int) (bit / 8);
    image.put(at, (byte) (image.get(at) ^ 1 << bit % 8));
  }

  private static void assertCorrupt(Throwable thrown, String... words) {
    assertThat(thrown).isInstanceOf(TakoException.class);
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.CORRUPT);
    assertThat(thrown.getMessage()).contains(words);
  }
}
