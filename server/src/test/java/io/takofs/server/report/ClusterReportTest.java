package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.FileHealth;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SlabStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.server.ManualClock;
import io.takofs.server.peer.ClusterTopology;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClusterReportTest {
  private static final ServerStatus OWN =
      ServerStatus.newBuilder().setVersion("1").setUsage(space(5)).build();

  private final ManualClock clock = new ManualClock();

  /** Three servers, the first of which leads. */
  private record Three(int serverId, List<String> listed) implements ClusterTopology {
    Three(int serverId) {
      this(serverId, List.of());
    }

    @Override
    public ClusterMap map() {
      return ClusterMap.newBuilder()
          .setName("three")
          .setEpoch(9)
          .addServers(ServerEntry.newBuilder().setId(1).setHost("a"))
          .addServers(ServerEntry.newBuilder().setId(2).setHost("b"))
          .addServers(
              ServerEntry.newBuilder().setId(3).setHost("c").setState(ServerEntry.State.LOST))
          .addGroups(GroupEntry.newBuilder().setId(1).addMembers(1))
          .build();
    }
  }

  /** The second of six servers, of which the first leads. */
  private record OneOfSix(int serverId, List<String> listed) implements ClusterTopology {
    @Override
    public ClusterMap map() {
      ClusterMap.Builder map =
          ClusterMap.newBuilder().addGroups(GroupEntry.newBuilder().setId(1).addMembers(1));
      for (int id = 1; id <= 6; id++) {
        map.addServers(ServerEntry.newBuilder().setId(id).setHost("h" + id));
      }
      return map.build();
    }
  }

  /** The second of three members of the namespace, of which none leads. */
  private record Leaderless(int serverId, List<String> listed) implements ClusterTopology {
    @Override
    public ClusterMap map() {
      return ClusterMap.newBuilder()
          .addGroups(GroupEntry.newBuilder().setId(1).addMembers(3).addMembers(1).addMembers(2))
          .build();
    }

    @Override
    public Optional<ServerEntry> leader(int group) {
      return Optional.empty();
    }
  }

  /** A server that does not lead asks the others nothing, so all are silent to it. */
  @Test
  void shouldSayThatAServerIsDamagedThoughItIsSilent() {
    ClusterMap map =
        ClusterMap.newBuilder()
            .addServers(ServerEntry.newBuilder().setId(1))
            .addServers(ServerEntry.newBuilder().setId(2).setDamage("CORRUPT"))
            .build();
    ClusterReport report = new ClusterReport(new Known(1, map), clock);
    assertThat(trouble(report)).isEqualTo("CORRUPT");
    pass(11);
    assertThat(trouble(report)).isEqualTo("CORRUPT; silent for 00:00:11");
    report.refused(2, "no");
    assertThat(trouble(report)).startsWith("CORRUPT; silent for ").endsWith("no");
  }

  /** The leader has asked it, and knows for how long it is silent. */
  @Test
  void shouldPassOnWhatTheLeaderSaysOfADamagedServer() {
    ClusterMap map =
        ClusterMap.newBuilder()
            .addServers(ServerEntry.newBuilder().setId(1))
            .addServers(ServerEntry.newBuilder().setId(2).setDamage("CORRUPT"))
            .addServers(ServerEntry.newBuilder().setId(3))
            .build();
    ClusterReport report = new ClusterReport(new Known(3, map), clock);
    String words = "CORRUPT; silent for 00:00:40: refused";
    report.leaderAnswered(
        1,
        ClusterStatus.newBuilder().addServers(heard(2, 5).toBuilder().setTrouble(words)).build());
    assertThat(trouble(report)).isEqualTo(words);
  }

  private static String trouble(ClusterReport report) {
    return report.build(OWN).getServers(1).getTrouble();
  }

  /** A server of {@code map}. */
  private record Known(int serverId, ClusterMap map) implements ClusterTopology {
    @Override
    public List<String> listed() {
      return List.of();
    }
  }

  @Test
  void shouldWarnWhenNobodyHasLedForAWhile() {
    ClusterReport report = new ClusterReport(new Leaderless(2, List.of()), clock);
    assertThat(report.build(OWN).getWarningsList()).as("an election takes less").isEmpty();
    assertThat(report.build(OWN).getGroup().getMembersList())
        .extracting(MemberStatus::getServer)
        .containsExactly(1, 2, 3);
    pass(11);
    assertThat(report.build(OWN).getWarningsList())
        .containsExactly(
            "no server leads the namespace, as far as server 2 knows: servers 1, 2, 3 keep it, and 2"
                + " of them must run for one to lead");
    report.leaderAnswered(1, ClusterStatus.getDefaultInstance());
    assertThat(report.build(OWN).getWarningsList()).isEmpty();
  }

  private static SpaceUsage space(long used) {
    return SpaceUsage.newBuilder().setUsed(used).setCapacity(100).build();
  }

  private void pass(int seconds) {
    clock.advanceMillis(TimeUnit.SECONDS.toMillis(seconds));
  }

  @Test
  void leaderPutsTogetherWhatOthersSayOfThemselves() {
    ClusterReport report = new ClusterReport(new Three(1), clock);
    report.answered(2, ServerStatus.newBuilder().setVersion("2").setUsage(space(7)).build());
    report.ofGroup(
        ClusterStatus.newBuilder()
            .addServers(
                ServerHealth.newBuilder()
                    .setEntry(ServerEntry.newBuilder().setId(2))
                    .setReplicas(4))
            .addSlabs(SlabStatus.newBuilder().setState("open").setSlabs(4))
            .setFiles(FileHealth.newBuilder().setMissing(1))
            .build());
    pass(4);
    ClusterStatus status = report.build(OWN);
    assertThat(status.getName()).isEqualTo("three");
    assertThat(status.getLeader()).isEqualTo(1);
    assertThat(status.getLeaderAgeMs()).isZero();
    assertThat(status.getSlabs(0).getSlabs()).isEqualTo(4);
    assertThat(status.getFiles().getMissing()).isEqualTo(1);
    assertThat(status.getServers(0).getUsage().getUsed()).isEqualTo(5);
    report.ownSpace(() -> space(3)); // the status of a leader has the space of all servers
    assertThat(report.build(OWN).getServers(0).getUsage().getUsed()).isEqualTo(3);
    ServerHealth second = status.getServers(1);
    assertThat(second.getEntry().getHost()).isEqualTo("b");
    assertThat(second.getUsage().getUsed()).isEqualTo(7);
    assertThat(second.getReplicas()).isEqualTo(4);
    assertThat(second.getHeardAgeMs()).isEqualTo(4000);
    assertThat(second.getTrouble()).isEmpty();
    assertThat(status.getServers(2).getTrouble())
        .isEqualTo("its pool is gone; when all copies are there again: tako cluster remove 3");
  }

  @Test
  void leaderNamesTheServersThatHaveNotJoined() {
    List<String> listed = List.of("a:0", "b:0", "c:0", "d:7420", "e:7420");
    ClusterStatus status = new ClusterReport(new Three(1, listed), clock).build(OWN);
    assertThat(status.getWarningsList()).hasSize(1);
    assertThat(status.getWarnings(0))
        .contains(
            "of the 5 servers of fs.tako.cluster.servers", "not in the cluster: d:7420, e:7420;");
    ClusterReport other = new ClusterReport(new Three(2, listed), clock);
    other.ofGroup(status);
    assertThat(other.build(OWN).getWarningsList()).isEqualTo(status.getWarningsList());
  }

  @Test
  void leaderSaysWhyTheGroupHasFewMembersAndEachServerThatItIsDamaged() {
    ClusterReport leader = new ClusterReport(new Troubled(1), clock);
    leader.answered(2, OWN.toBuilder().setWarning("CORRUPT: a page; it comes back").build());
    ClusterStatus said = leader.build(OWN);
    assertThat(said.getWarningsList())
        .containsExactly("few members; do something", "server 2: CORRUPT: a page; it comes back");
    assertThat(said.getServers(1).getTrouble()).isEqualTo("CORRUPT: a page");

    ClusterReport damaged = new ClusterReport(new Troubled(2), clock);
    assertThat(damaged.build(OWN).getWarningsList())
        .as("no leader has said anything")
        .containsExactly("server 2: CORRUPT: a page; it comes back");
    damaged.ofGroup(said);
    assertThat(damaged.build(OWN).getWarningsList()).isEqualTo(said.getWarningsList());
    assertThat(damaged.build(OWN).getServers(1).getTrouble()).isEqualTo("CORRUPT: a page");
  }

  /** A cluster with few members, of which the second server is damaged. */
  private record Troubled(int serverId) implements ClusterTopology {
    @Override
    public ClusterMap map() {
      return ClusterMap.newBuilder()
          .addServers(ServerEntry.newBuilder().setId(1))
          .addServers(ServerEntry.newBuilder().setId(2).setDamage("CORRUPT: a page"))
          .addGroups(GroupEntry.newBuilder().setId(1).addMembers(1))
          .build();
    }

    @Override
    public Optional<String> groupWarning() {
      return Optional.of("few members; do something");
    }

    @Override
    public Optional<String> damaged() {
      return serverId == 2 ? Optional.of("CORRUPT: a page") : Optional.empty();
    }

    @Override
    public Optional<String> warning() {
      return damaged().map(damage -> damage + "; it comes back");
    }
  }

  @Test
  void leaderNamesTheServersThatHaveAnotherList() {
    ClusterReport report = new ClusterReport(new Three(1, List.of("a:0", "b:0", "c:0")), clock);
    report.answered(2, OWN.toBuilder().addAllListed(List.of("a:0", "b:0", "c:0")).build());
    assertThat(report.build(OWN).getWarningsList()).isEmpty();
    List<String> grown = List.of("a:0", "b:0", "c:0", "d:0"); // the others need no start for it
    report.answered(2, OWN.toBuilder().addAllListed(grown).build());
    assertThat(report.build(OWN).getWarningsList()).isEmpty();
    report.answered(2, OWN.toBuilder().addAllListed(List.of("b:0", "a:0", "c:0")).build());
    assertThat(report.build(OWN).getWarningsList()).hasSize(1);
    assertThat(report.build(OWN).getWarnings(0))
        .contains("server 2 has b:0,a:0,c:0", "server 1 has a:0,b:0,c:0", "the same list");
  }

  @Test
  void leaderPassesOnWhatServersWarnOf() {
    ClusterReport report = new ClusterReport(new Three(1), clock);
    report.answered(2, OWN.toBuilder().setWarning("no rack").build());
    assertThat(report.build(OWN).getWarningsList()).containsExactly("server 2: no rack");
    report.answered(2, OWN);
    assertThat(report.build(OWN).getWarningsList()).isEmpty();
  }

  @Test
  void leaderThatAnswersAgainIsWell() {
    ClusterReport report = new ClusterReport(new Three(2), clock);
    report.refused(1, "it has not joined");
    assertThat(report.build(OWN).getServers(0).getTrouble()).isEqualTo("it has not joined");
    report.leaderAnswered(1, new ClusterReport(new Three(1), clock).build(OWN));
    assertThat(report.build(OWN).getServers(0).getTrouble()).isEmpty();
    pass(11);
    assertThat(report.build(OWN).getServers(0).getTrouble()).startsWith("silent for 00:00:11");
  }

  @Test
  void serverThatSaysNothingIsInTrouble() {
    ClusterReport report = new ClusterReport(new Three(1), clock);
    assertThat(report.build(OWN).getServers(1).getTrouble()).isEmpty();
    assertThat(report.build(OWN).getServers(1).getHeard()).isFalse();
    report.refused(2, "no route");
    assertThat(report.build(OWN).getServers(1).getTrouble()).isEqualTo("no route");
    pass(11);
    assertThat(report.build(OWN).getServers(1).getTrouble())
        .isEqualTo("silent for 00:00:11: no route");
    report.answered(2, OWN);
    assertThat(report.build(OWN).getServers(1).getTrouble()).isEmpty();
  }

  /** It asks only the leader then, and what it heard before gets old. */
  @Test
  void serverThatLedBeforePassesOnWhatTheLeaderSays() {
    ClusterReport report = new ClusterReport(new OneOfSix(2, List.of()), clock);
    report.answered(3, OWN);
    report.answered(4, OWN);
    report.refused(4, "no route");
    report.refused(5, "no route");
    report.refused(6, "no route");
    pass(60);
    report.leaderAnswered(
        1,
        ClusterStatus.newBuilder()
            .addServers(heard(1, 1))
            .addServers(heard(3, 33))
            .addServers(heard(4, 34))
            .addServers(heard(5, 35))
            .build());
    List<ServerHealth> servers = report.build(OWN).getServersList();
    for (int id = 3; id <= 5; id++) {
      ServerHealth server = servers.get(id - 1);
      assertThat(server.getTrouble()).as("server " + id).isEmpty();
      assertThat(server.getUsage().getUsed()).isEqualTo(30 + id);
      assertThat(server.getHeardAgeMs()).isZero();
    }
    assertThat(servers.get(5).getTrouble())
        .as("the leader has not heard of it, either")
        .startsWith("silent for 00:01:00");
  }

  private static ServerHealth heard(int id, long used) {
    return ServerHealth.newBuilder()
        .setEntry(ServerEntry.newBuilder().setId(id))
        .setHeard(true)
        .setUsage(space(used))
        .build();
  }

  @Test
  void otherServersPassOnWhatTheLeaderSays() {
    ClusterReport leading = new ClusterReport(new Three(1), clock);
    leading.ofGroup(
        ClusterStatus.newBuilder().addSlabs(SlabStatus.newBuilder().setSlabs(4)).build());
    ClusterReport report = new ClusterReport(new Three(2), clock);
    report.ofGroup(leading.build(OWN));
    pass(3);
    ClusterStatus status = report.build(ServerStatus.getDefaultInstance());
    assertThat(status.getServer()).isEqualTo(2);
    assertThat(status.getLeader()).isEqualTo(1);
    assertThat(status.getLeaderAgeMs()).isEqualTo(3000);
    assertThat(status.getSlabs(0).getSlabs()).isEqualTo(4);
    assertThat(status.getServers(0).getUsage().getUsed()).isEqualTo(5);
    assertThat(status.getServers(0).getTrouble()).isEmpty();
    assertThat(status.getServers(1).getHeardAgeMs()).isZero();
    report.refused(1, "refused");
    pass(9);
    status = report.build(ServerStatus.getDefaultInstance());
    assertThat(status.getServers(0).getTrouble()).isEqualTo("silent for 00:00:12: refused");
    assertThat(status.getServers(0).getHeard()).isTrue();
  }
}
