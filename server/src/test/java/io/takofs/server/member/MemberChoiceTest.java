package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerEntry.State;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.member.MemberChoice.Replacement;
import io.takofs.server.peer.ClusterTopology;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Server 1 leads. */
class MemberChoiceTest {
  private final TreeMap<Integer, ServerEntry> servers = new TreeMap<>();
  private final Set<Integer> gone = new HashSet<>();
  private final Set<Integer> unreached = new HashSet<>();
  private final List<Integer> failed = new ArrayList<>(); // learners in vain, in their order
  private int most = 3;

  private final ClusterTopology cluster =
      new ClusterTopology() {
        @Override
        public ClusterMap map() {
          return ClusterMap.newBuilder().addAllServers(servers.values()).build();
        }

        @Override
        public int serverId() {
          return 1;
        }
      };

  private final MemberChoice.Sight sight =
      new MemberChoice.Sight() {
        @Override
        public boolean hasTransport(int server) {
          return true;
        }

        @Override
        public boolean isReached(int server) {
          return !unreached.contains(server);
        }

        @Override
        public int lastFailure(int server) {
          return failed.indexOf(server) + 1;
        }

        @Override
        public boolean isGone(int server) {
          return gone.contains(server);
        }
      };

  private MemberChoice choice() {
    return new MemberChoice(cluster, most, sight);
  }

  private ServerEntry.Builder add(int id, String rack) {
    ServerEntry.Builder server =
        ServerEntry.newBuilder().setId(id).setRack(rack).setLogSegments(GroupConfig.SEGMENTS_MIN);
    servers.put(id, server.build());
    return server;
  }

  private void change(int id, State state, String damage) {
    servers.put(id, servers.get(id).toBuilder().setState(state).setDamage(damage).build());
  }

  private Set<Integer> wanted(Integer... members) {
    return choice().wanted(new TreeSet<>(Set.of(members)), null);
  }

  private Set<Integer> wanted(Replacement asked, Integer... members) {
    return choice().wanted(new TreeSet<>(Set.of(members)), asked);
  }

  @Test
  void shouldHaveAsManyAsAreConfiguredWhereThereAreAsMany() {
    add(1, "/a");
    assertThat(wanted(1)).containsExactly(1);
    add(2, "/a");
    assertThat(wanted(1)).as("two survive no more than one").containsExactly(1);
    add(3, "/a");
    assertThat(wanted(1)).containsExactly(1, 2, 3);
    add(4, "/a");
    add(5, "/a");
    assertThat(wanted(1, 2, 3)).containsExactly(1, 2, 3);
    most = 5;
    assertThat(wanted(1, 2, 3)).containsExactly(1, 2, 3, 4, 5);
  }

  /** The loss of a rack is survived where there are three. */
  @Test
  void shouldTakeEachMemberFromARackThatHasNone() {
    add(1, "/a");
    add(2, "/b");
    add(3, "/b");
    add(4, "/c");
    assertThat(wanted(1)).containsExactly(1, 2, 4);
  }

  @Test
  void shouldReplaceAMemberByOneOfItsRack() {
    add(1, "/a");
    add(2, "/b");
    add(3, "/c");
    add(5, "/a");
    add(6, "/c");
    gone.add(3);
    assertThat(wanted(1, 2, 3)).containsExactly(1, 2, 6);
  }

  @Test
  void shouldReplaceOneAtATime() {
    for (int id = 1; id <= 5; id++) {
      add(id, "/a");
    }
    gone.add(2);
    change(3, State.LOST, "");
    assertThat(wanted(1, 2, 3)).containsExactly(1, 3, 4);
    assertThat(wanted(1, 3, 4)).containsExactly(1, 2, 4);
  }

  /** Another member has to go before what was asked for can be done. */
  @Test
  void shouldKeepTheServerThatWasAskedForWhereThereAreOthers() {
    add(1, "/a");
    add(2, "/b");
    add(3, "/c");
    add(4, "/a");
    add(5, "/c"); // which would be better
    change(3, State.LOST, "");
    Replacement asked = new Replacement(2, 5);
    assertThat(wanted(asked, 1, 2, 3)).containsExactly(1, 2, 4);
    assertThat(wanted(asked, 1, 2, 4)).containsExactly(1, 4, 5);
    failed.add(4);
    assertThat(wanted(asked, 1, 2, 3)).as("the other one learned in vain").containsExactly(1, 2, 5);
    servers.remove(4);
    assertThat(wanted(asked, 1, 2, 3)).as("there is no other one").containsExactly(1, 2, 5);
  }

  @Test
  void shouldHaveAnotherOneLearnInsteadOfOneThatDidInVain() {
    for (int id = 1; id <= 5; id++) {
      add(id, "/a");
    }
    add(4, "/b"); // which would be better
    gone.add(2);
    failed.add(4);
    assertThat(wanted(1, 2, 3)).containsExactly(1, 3, 5);
    failed.add(5);
    assertThat(wanted(1, 2, 3)).as("the one that was tried longer ago").containsExactly(1, 3, 4);
  }

  /** There were three, and the damaged one was left out. */
  @Test
  void shouldReplaceAMemberOfAnEvenNumber() {
    add(1, "/a");
    add(2, "/a");
    add(3, "/a");
    gone.add(2);
    assertThat(wanted(1, 2)).containsExactly(1, 3);
  }

  @Test
  void shouldLeaveADamagedMemberOutWhereNobodyTakesItsPlace() {
    add(1, "/a");
    add(2, "/a");
    add(3, "/a");
    change(3, State.UP, "a promise");
    assertThat(wanted(1, 2, 3)).containsExactly(1, 2);
    unreached.add(2);
    assertThat(wanted(1, 2, 3)).as("the others would have no majority").containsExactly(1, 2, 3);
    add(4, "/a");
    assertThat(wanted(1, 2, 3)).containsExactly(1, 2, 4);
  }

  @Test
  void shouldHaveFewerMembersWhenOneLeavesAndNobodyTakesItsPlace() {
    add(1, "/a");
    add(2, "/a");
    add(3, "/a");
    change(2, State.DECOMMISSIONING, "");
    assertThat(wanted(1, 2, 3)).containsExactly(1);
    add(4, "/a");
    assertThat(wanted(1, 2, 3)).containsExactly(1, 3, 4);
  }

  @Test
  void shouldDoWhatSomebodyAsksFor() {
    for (int id = 1; id <= 5; id++) {
      add(id, "/a");
    }
    assertThat(wanted(new Replacement(2, 5), 1, 2, 3)).containsExactly(1, 3, 5);
    assertThat(wanted(new Replacement(4, 5), 1, 2, 3)).as("no member").containsExactly(1, 2, 3);
    change(5, State.DECOMMISSIONING, "");
    assertThat(wanted(new Replacement(2, 5), 1, 2, 3)).as("it leaves").containsExactly(1, 2, 3);
  }

  /** The one that comes may never have learned enough. */
  @Test
  void shouldReplaceALostMemberBeforeWhatSomebodyAsksFor() {
    for (int id = 1; id <= 5; id++) {
      add(id, "/a");
    }
    change(3, State.LOST, "");
    assertThat(wanted(new Replacement(2, 5), 1, 2, 3)).containsExactly(1, 2, 4);
    assertThat(wanted(new Replacement(3, 5), 1, 2, 3)).containsExactly(1, 2, 5);
  }
}
