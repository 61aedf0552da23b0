package io.takofs.server.slabs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import java.util.List;
import org.junit.jupiter.api.Test;

class WrongCopiesTest {
  private static final Replica FIRST = Replica.newBuilder().setServer(1).setLease(7).build();
  private static final Replica SECOND = Replica.newBuilder().setServer(2).setLease(7).build();

  private final WrongCopies copies = new WrongCopies();

  private static Extent extent(int offset) {
    return Extent.newBuilder().setOffset(offset).build();
  }

  @Test
  void shouldCountEachOnceWhileItIsThere() {
    assertThat(copies.add(FIRST, extent(0))).isTrue();
    assertThat(copies.add(FIRST, extent(0))).isFalse();
    assertThat(copies.add(FIRST, extent(1))).isTrue();
    assertThat(copies.add(SECOND, extent(0))).isTrue();
    copies.retain(FIRST, List.of(extent(1)));
    assertThat(copies.add(FIRST, extent(1))).isFalse();
    assertThat(copies.add(FIRST, extent(0))).isTrue();
    copies.prune(FIRST::equals);
    assertThat(copies.add(FIRST, extent(0))).isFalse();
    assertThat(copies.add(SECOND, extent(0))).isTrue();
    assertThat(copies.found()).isEqualTo(5);
  }

  @Test
  void shouldRememberSoManyAtMost() {
    for (int i = 0; i < WrongCopies.KNOWN_MAX; i++) {
      assertThat(copies.add(FIRST, extent(i))).isTrue();
    }
    assertThat(copies.add(SECOND, extent(0))).isFalse();
    assertThat(copies.found()).isEqualTo(WrongCopies.KNOWN_MAX);
    copies.retain(FIRST, List.of());
    copies.prune(replica -> true);
    assertThat(copies.add(SECOND, extent(0))).isTrue();
  }
}
