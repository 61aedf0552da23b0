package io.takofs.server.slabs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import org.junit.jupiter.api.Test;

class RoomWantedTest {
  private static final Slab ON_ONE =
      Slab.newBuilder().setEndUnit(9).addReplicas(Replica.newBuilder().setServer(1)).build();

  private final RoomWanted wanted = new RoomWanted();

  /** One at a time let repair make four replicas a second where writers held all that was free. */
  @Test
  void shouldLetSeveralSlabsGoInOneWalk() {
    wanted.add(1, ON_ONE);
    for (int i = 1; i < RoomWanted.WALK_MAX; i++) {
      wanted.made();
      assertThat(wanted.isIn(ON_ONE)).isTrue();
    }
  }

  @Test
  void shouldLetNoMoreGoBeforeThoseThatWaitHaveBegun() {
    wanted.add(1, ON_ONE);
    for (int i = 0; i < RoomWanted.WALK_MAX; i++) {
      wanted.made();
    }
    assertThat(wanted.isEmpty()).isTrue();
    wanted.turn();
    wanted.add(1, ON_ONE);
    wanted.made();
    assertThat(wanted.isIn(ON_ONE)).isTrue();
  }
}
