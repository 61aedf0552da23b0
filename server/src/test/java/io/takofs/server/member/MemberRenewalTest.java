package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.peer.ClusterTopology;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemberRenewalTest {
  private static final int SELF = 3;
  private static final long INCARNATION = 5;
  private static final long STEP_NS = 2_000_000_000;

  private ClusterMap map = map(4, INCARNATION, true, 1, 2, 3);
  private TakoException damage = new TakoException(Status.CORRUPT, "CORRUPT: a promise");
  private final List<Long> renewed = new ArrayList<>(); // epochs
  private final List<String> told = new ArrayList<>();
  private boolean ready = true;
  private boolean busy;
  private long nowNs = STEP_NS;

  private final ClusterTopology cluster =
      new ClusterTopology() {
        @Override
        public ClusterMap map() {
          return map;
        }

        @Override
        public int serverId() {
          return SELF;
        }
      };

  private final MemberRenewal renewal =
      new MemberRenewal(
          new MemberRenewal.Renewed() {
            @Override
            public TakoException damage() {
              return damage;
            }

            @Override
            public void tell(TakoException what) {
              told.add(what.getMessage());
            }

            @Override
            public boolean isBusy() {
              return busy;
            }

            @Override
            public boolean renew(long epoch) {
              renewed.add(epoch);
              if (ready) {
                damage = null;
              }
              return ready;
            }
          },
          new MapCatalog(1, cluster, null),
          (what, change) -> apply(change::apply),
          cluster,
          INCARNATION,
          Runnable::run,
          MemberRenewal.PAUSE_NS);

  private interface Change {
    ClusterMap apply(ClusterMap now) throws TakoException;
  }

  private void apply(Change change) {
    try {
      map = change.apply(map);
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  private static ClusterMap map(long epoch, long incarnation, boolean active, Integer... members) {
    ClusterMap.Builder map = ClusterMap.newBuilder().setEpoch(9);
    for (int id = 1; id <= 3; id++) {
      map.addServers(ServerEntry.newBuilder().setId(id).setEpoch(incarnation));
    }
    return map.addGroups(
            GroupEntry.newBuilder()
                .setId(1)
                .setConfigEpoch(epoch)
                .setActive(active)
                .addAllMembers(List.of(members)))
        .build();
  }

  private void tick() {
    nowNs += STEP_NS;
    renewal.tick(nowNs);
  }

  private String marked() {
    return map.getServers(SELF - 1).getDamage();
  }

  private void without(long epoch, boolean active) {
    String mark = marked();
    map = map(epoch, INCARNATION, active, 1, 2);
    map =
        map.toBuilder()
            .setServers(SELF - 1, map.getServers(SELF - 1).toBuilder().setDamage(mark))
            .build();
  }

  @Test
  void shouldBeginAnewOnceNobodyCountsItAndThenBeWhole() {
    tick();
    assertThat(told).containsExactly("CORRUPT: a promise");
    assertThat(marked()).isEqualTo("CORRUPT: a promise");
    tick();
    assertThat(renewed).as("it is a member").isEmpty();
    without(5, false);
    tick();
    assertThat(renewed).as("the former members may still count it").isEmpty();
    without(5, true);
    busy = true;
    tick();
    assertThat(renewed).isEmpty();
    busy = false;
    tick();
    assertThat(renewed).containsExactly(5L);
    tick();
    assertThat(marked()).isEmpty();
  }

  @Test
  void shouldTryAgainWhileAFormerLeaderMayStore() {
    tick();
    without(5, true);
    ready = false;
    tick();
    tick();
    ready = true;
    tick();
    tick();
    assertThat(renewed).hasSize(3);
    assertThat(marked()).isEmpty();
  }

  /** The map may be of a time before this server was a member. */
  @Test
  void shouldBelieveNoMapOfAnEarlierIncarnation() {
    map = map(4, INCARNATION - 1, true, 1, 2);
    map =
        map.toBuilder()
            .setServers(SELF - 1, map.getServers(SELF - 1).toBuilder().setDamage("CORRUPT: a slot"))
            .build();
    tick();
    tick();
    assertThat(renewed).isEmpty();
  }

  @Test
  void shouldBeginAnewOnceInAProcess() {
    tick();
    without(5, true);
    tick();
    tick();
    damage = new TakoException(Status.CORRUPT, "CORRUPT: again");
    tick();
    tick();
    tick();
    assertThat(marked()).isEqualTo("CORRUPT: again");
    assertThat(renewed).hasSize(1);
  }

  @Test
  void shouldTakeTheMarkOfAServerThatIsWholeAway() {
    damage = null;
    apply(now -> ClusterMaps.damaged(now, SELF, "CORRUPT: a slot"));
    tick();
    assertThat(marked()).isEmpty();
  }
}
