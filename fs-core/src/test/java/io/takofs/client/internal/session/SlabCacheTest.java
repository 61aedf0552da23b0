package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlabCacheTest {
  private final SlabCache slabs = new SlabCache();

  private static Slab slab(long id, int version, int server) {
    return Slab.newBuilder()
        .setId(id)
        .setVersion(version)
        .addReplicas(Replica.newBuilder().setServer(server).setArena(3).setIndex(2))
        .addReplicas(Replica.newBuilder().setServer(server + 1).setArena(1).setIndex(0))
        .build();
  }

  private static Extent extent(long slab) {
    return Extent.newBuilder()
        .setSlab(slab)
        .setOffset(5 * Layout.UNIT_SIZE)
        .setCapacity(Layout.UNIT_SIZE)
        .build();
  }

  @Test
  void shouldFindThePlaceOfEachReplica() throws TakoException {
    slabs.add(List.of(slab(7, 1, 10)));
    assertThat(slabs.places(extent(7)))
        .containsExactly(
            new Place(10, 3, 2 * Layout.SLAB_SIZE + 5 * Layout.UNIT_SIZE, Layout.UNIT_SIZE),
            new Place(11, 1, 5 * Layout.UNIT_SIZE, Layout.UNIT_SIZE));
  }

  @Test
  void shouldKeepTheNewestVersionWhateverComesLast() throws TakoException {
    slabs.add(List.of(slab(7, 2, 20)));
    slabs.add(List.of(slab(7, 1, 10)));
    assertThat(slabs.places(extent(7)).get(0).server()).isEqualTo(20);
    slabs.add(List.of(slab(7, 3, 30)));
    assertThat(slabs.places(extent(7)).get(0).server()).isEqualTo(30);
  }

  @Test
  void shouldForgetWhatWasNotUsedForLongest() {
    for (int id = 1; id <= SlabCache.SLABS_MAX; id++) {
      slabs.add(List.of(slab(id, 1, 10)));
    }
    assertThat(slabs.find(1)).isNotNull();
    slabs.add(List.of(slab(SlabCache.SLABS_MAX + 1, 1, 10)));
    assertThat(slabs.find(1)).isNotNull();
    assertThat(slabs.find(2)).isNull();
  }

  @Test
  void shouldNameASlabThatTheServerHasNotShown() {
    assertThatThrownBy(() -> slabs.places(extent(9)))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("slab 9");
  }
}
