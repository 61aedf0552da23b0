package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import java.util.List;
import java.util.Optional;
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

  /** Else a server that is about to begin anew could become a member meanwhile. */
  @Test
  void shouldKeepTheMarkOfAProcessThatRegistersAgain() throws Exception {
    ServerEntry entry = ServerEntry.newBuilder().setPoolId(77).setHost("h9").setEpoch(3).build();
    ClusterMap joined = register(map().toBuilder().setLastServerId(4).build(), entry);
    ClusterMap found = ClusterMaps.damaged(joined, 5, "CORRUPT: a segment");
    assertThat(register(found, entry).getServers(4).getDamage()).isEqualTo("CORRUPT: a segment");
    ServerEntry damagedAtStart = entry.toBuilder().setEpoch(4).setDamage("CORRUPT: it").build();
    ClusterMap next = register(found, damagedAtStart);
    assertThat(next.getServers(4).getDamage()).isEqualTo("CORRUPT: it");
    ClusterMap mended = ClusterMaps.damaged(next, 5, "");
    assertThat(register(mended, damagedAtStart).getServers(4).getDamage()).isEmpty();
    assertThat(register(found, entry.toBuilder().setEpoch(5).build()).getServers(4).getDamage())
        .as("the next process finds none")
        .isEmpty();
  }

  private static ClusterMap register(ClusterMap map, ServerEntry entry) throws TakoException {
    return ClusterMaps.register(map, new Registration(0, 0, entry), id -> Optional.empty());
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

  @Test
  void shouldTellWhetherThereAreOtherMembers() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    assertThat(ClusterMaps.hasOtherMembers(active, 3)).isTrue();
    assertThat(ClusterMaps.hasOtherMembers(ClusterMap.getDefaultInstance(), 3)).isFalse();
    ClusterMap alone = ClusterMaps.changeMembers(active, GROUP, 1, Set.of(3));
    assertThat(ClusterMaps.hasOtherMembers(alone, 3)).isFalse();
    assertThat(ClusterMaps.hasOtherMembers(alone, 4)).isTrue();
  }

  @Test
  void shouldNameTheConfigurationsOfCopiesUntilOneIsActiveAgain() throws Exception {
    ClusterMap first = ClusterMaps.restored(ClusterMaps.activate(map(), GROUP, 1));
    GroupEntry group = first.getGroups(0);
    assertThat(group.getActive()).isFalse();
    assertThat(group.getPreviousList()).containsExactly(1, 2, 3);
    assertThat(group.getCopiedEpochsList()).containsExactly(1L);
    GroupEntry again = ClusterMaps.restored(first).getGroups(0);
    assertThat(again.getConfigEpoch()).isGreaterThan(group.getConfigEpoch());
    assertThat(again.getCopiedEpochsList()).containsExactly(1L, group.getConfigEpoch());
    ClusterMap active = ClusterMaps.activate(first, GROUP, group.getConfigEpoch());
    assertThat(active.getGroups(0).getCopiedEpochsList()).isEmpty();
    assertThat(ClusterMaps.restored(active).getGroups(0).getCopiedEpochsList())
        .containsExactly(group.getConfigEpoch());
  }

  /** Nobody has led in it yet, so that a majority of the former members may still commit alone. */
  @Test
  void shouldAskTheFormerMembersToWhenTheConfigurationOfACopyIsNotActive() throws Exception {
    ClusterMap active = ClusterMaps.activate(map(), GROUP, 1);
    ClusterMap changed = ClusterMaps.changeMembers(active, GROUP, 1, Set.of(1, 4));
    GroupEntry group = ClusterMaps.restored(changed).getGroups(0);
    assertThat(group.getMembersList()).containsExactlyInAnyOrder(1, 4);
    assertThat(group.getPreviousList()).containsExactly(1, 2, 3);
    assertThat(group.getActive()).isFalse();
  }
}
