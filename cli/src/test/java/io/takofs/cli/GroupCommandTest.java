package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import org.junit.jupiter.api.Test;

class GroupCommandTest {
  private static final GroupStatus GROUP =
      GroupStatus.newBuilder()
          .setId(1)
          .setLeader(2)
          .setTerm(5)
          .setConfigEpoch(3)
          .setActive(true)
          .setLastIndex(100)
          .setCommitIndex(98)
          .addMembers(member(2).setReached(true).setWrittenIndex(100))
          .addMembers(member(3).setReached(true).setWrittenIndex(99))
          .addMembers(member(6).setReached(true).setWrittenIndex(100))
          .addMembers(member(7).setReached(true).setWrittenIndex(101))
          .addMembers(member(1).setProblem("it is away"))
          .addMembers(member(4).setLearner(true).setReached(true).setWrittenIndex(60))
          .build();

  private static MemberStatus.Builder member(int server) {
    return MemberStatus.newBuilder().setServer(server);
  }

  private static ServerHealth server(int id, String damage) {
    ServerEntry entry =
        ServerEntry.newBuilder()
            .setId(id)
            .setHost("h" + id)
            .setPort(7420)
            .setDamage(damage)
            .build();
    return ServerHealth.newBuilder().setEntry(entry).build();
  }

  @Test
  void shouldShowMembersLearnersAndServersThatAreDamaged() {
    ClusterStatus cluster =
        ClusterStatus.newBuilder()
            .setGroup(GROUP)
            .addServers(server(2, ""))
            .addServers(server(3, ""))
            .addServers(server(5, "CORRUPT: a promise"))
            .build();
    assertThat(GroupCommand.lines(cluster))
        .containsExactly(
            "group    1, led by server 2 in term 5, configuration 3",
            "log      100 entries, 2 of them not committed yet",
            "member   2 h2:7420 leads",
            "member   3 h3:7420 lacks 1 entry",
            "member   6 has all entries",
            "member   7 has all entries",
            "member   1 is not reached: it is away",
            "learner  4 lacks 40 entries",
            "damaged  5 h5:7420 CORRUPT: a promise");
  }

  @Test
  void shouldTakeTheNumberOfAServerOrItsAddress() throws TakoException {
    ClusterStatus cluster =
        ClusterStatus.newBuilder().addServers(server(2, "")).addServers(server(3, "")).build();
    assertThat(GroupCommand.number(cluster, "3")).isEqualTo(3);
    assertThat(GroupCommand.number(cluster, "77")).isEqualTo(77);
    assertThat(GroupCommand.number(cluster, "h3:7420")).isEqualTo(3);
    assertThatThrownBy(() -> GroupCommand.number(cluster, "h3"))
        .hasMessage("no server of the cluster is at h3; tako cluster status names them");
  }

  @Test
  void shouldSayThatTheNamespaceIsOnOneServer() {
    assertThat(GroupCommand.lines(ClusterStatus.getDefaultInstance()))
        .containsExactly("the namespace is on one server alone");
  }

  @Test
  void shouldSayWhyAServerIsNoMemberYet() {
    assertThat(GroupCommand.unfinished(GROUP, 4)).startsWith("server 4 is still learning");
    assertThat(GroupCommand.unfinished(GROUP, 5))
        .startsWith("server 5 is not learning: server 2 leads now");
    assertThat(GroupCommand.unfinished(GROUP, 3)).startsWith("server 3 is a member, but ");
  }
}
