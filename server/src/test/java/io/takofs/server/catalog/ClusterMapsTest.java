package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterMapsTest {
  private static final int GROUP = 1;

  private static ClusterMap map() throws Exception {
    ClusterMap.Builder servers = ClusterMap.newBuilder().setEpoch(5);
    for (int id = 1; id <= 4; id++) {
      servers.addServers(ServerEntry.newBuilder().setId(id).setHost("h" + id).setPort(7420));
    }
    return ClusterMaps.addGroup(servers.build(), List.of(1, 2, 3));
  }

  @Test
  void shouldChangeTheMembersOfAGroupOnlyWhenTheLastChangeIsActive() throws Exception {
    ClusterMap begun = map();
    assertThat(ClusterMaps.changeMembers(begun, GROUP, 1, Set.of(1, 2, 4))).isSameAs(begun);

    ClusterMap active = ClusterMaps.activate(begun, GROUP, 1);
    assertThat(active.getEpoch()).isEqualTo(begun.getEpoch() + 1);
    assertThat(ClusterMaps.activate(active, GROUP, 1)).isSameAs(active);

    ClusterMap changed = ClusterMaps.changeMembers(active, GROUP, 1, Set.of(1, 2, 4));
    GroupEntry group = changed.getGroups(0);
    assertThat(group.getMembersList()).containsExactlyInAnyOrder(1, 2, 4);
    assertThat(group.getPreviousList()).containsExactly(1, 2, 3);
    assertThat(group.getConfigEpoch()).isEqualTo(2);
    assertThat(group.getActive()).isFalse();
    assertThat(ClusterMaps.changeMembers(changed, GROUP, 2, Set.of(1, 2, 3))).isSameAs(changed);
  }

  @Test
  void shouldTakeNoWordOfAnEarlierConfiguration() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    ClusterMap changed = ClusterMaps.changeMembers(active, GROUP, 1, Set.of(1, 2, 4));
    assertThat(ClusterMaps.activate(changed, GROUP, 1)).as("a late leader").isSameAs(changed);
    assertThat(ClusterMaps.changeMembers(changed, GROUP, 1, Set.of(2, 3, 4))).isSameAs(changed);
  }

  @Test
  void shouldRefuseMembersThatAreNoServers() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    assertThatThrownBy(() -> ClusterMaps.changeMembers(active, GROUP, 1, Set.of(1, 2, 9)))
        .hasFieldOrPropertyWithValue("status", Status.NOT_FOUND);
  }

  @Test
  void shouldLetADamagedServerBecomeNoMember() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    ClusterMap damaged = ClusterMaps.damaged(active, 4, "CORRUPT: a segment");
    assertThat(damaged.getEpoch()).isEqualTo(active.getEpoch() + 1);
    assertThat(ClusterMaps.changeMembers(damaged, GROUP, 1, Set.of(1, 2, 4))).isSameAs(damaged);
    ClusterMap whole = ClusterMaps.damaged(damaged, 4, "");
    assertThat(ClusterMaps.changeMembers(whole, GROUP, 1, Set.of(1, 2, 4))).isNotSameAs(whole);
  }

  /** It is a member already, so it is no new one. */
  @Test
  void shouldLetOthersChangeWhileADamagedMemberStays() throws Exception {
    ClusterMap damaged =
        ClusterMaps.damaged(ClusterMaps.activate(map(), GROUP, 1), 3, "CORRUPT: a segment");
    assertThat(
            ClusterMaps.changeMembers(damaged, GROUP, 1, Set.of(1, 3, 4))
                .getGroups(0)
                .getMembersList())
        .containsExactlyInAnyOrder(1, 3, 4);
  }

  @Test
  void shouldTellWhetherAMajorityThatIsWholeGoesOn() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    assertThat(ClusterMaps.goesOnWithout(active, 3)).isTrue();
    assertThat(ClusterMaps.goesOnWithout(ClusterMap.getDefaultInstance(), 3)).isFalse();
    ClusterMap damaged = ClusterMaps.damaged(active, 2, "CORRUPT: a segment");
    assertThat(ClusterMaps.goesOnWithout(damaged, 2)).isTrue();
    assertThat(ClusterMaps.goesOnWithout(damaged, 3)).isFalse();
    ClusterMap changed = ClusterMaps.changeMembers(damaged, GROUP, 1, Set.of(1, 3, 4));
    assertThat(ClusterMaps.goesOnWithout(changed, 4)).as("of the former ones, too").isTrue();
    assertThat(ClusterMaps.goesOnWithout(changed, 3)).isFalse();
  }
}
