package io.takofs.server.extent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LongQueueTest {
  private final LongQueue queue = new LongQueue();

  @Test
  void shouldGiveTheOldestFirst() {
    for (long i = 0; i < 100; i++) {
      queue.add(-i);
    }
    assertThat(queue.size()).isEqualTo(100);
    for (long i = 0; i < 100; i++) {
      assertThat(queue.get(0)).isEqualTo(-i);
      assertThat(queue.removeFirst()).isEqualTo(-i);
    }
    assertThat(queue.size()).isZero();
  }

  @Test
  void shouldForgetTheLastWhereTheItemsWrapAround() {
    for (long i = 0; i < 16; i++) {
      queue.add(i);
    }
    for (long i = 0; i < 10; i++) {
      queue.removeFirst();
    }
    queue.add(16);
    queue.add(17);
    queue.removeLast();
    queue.add(18);
    for (long expected : new long[] {10, 11, 12, 13, 14, 15, 16, 18}) {
      assertThat(queue.removeFirst()).isEqualTo(expected);
    }
    assertThat(queue.size()).isZero();
  }

  @Test
  void shouldBehaveLikeAnyQueueWhileItGrowsAndShrinks() {
    Random random = new Random(1);
    ArrayDeque<Long> model = new ArrayDeque<>();
    for (int round = 0; round < 40; round++) {
      int adds = round % 2 == 0 ? 70 : 20; // in 100
      for (int i = 0; i < 500; i++) {
        int choice = random.nextInt(100);
        if (model.isEmpty() || choice < adds) {
          long item = random.nextLong();
          queue.add(item);
          model.addLast(item);
        } else if (choice % 10 == 0) {
          queue.removeLast();
          model.removeLast();
        } else {
          assertThat(queue.removeFirst()).isEqualTo(model.removeFirst());
        }
        assertThat(queue.size()).isEqualTo(model.size());
        if (!model.isEmpty()) {
          assertThat(queue.get(0)).isEqualTo(model.peekFirst());
        }
      }
    }
  }
}
