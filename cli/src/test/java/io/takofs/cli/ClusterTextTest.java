package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.FileHealth;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.SlabStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import org.junit.jupiter.api.Test;

class ClusterTextTest {
  private static final long MIB = 1 << 20;

  private static ServerHealth.Builder server(int id, String host) {
    return ServerHealth.newBuilder()
        .setEntry(
            ServerEntry.newBuilder()
                .setId(id)
                .setHost(host)
                .setPort(7420)
                .setRack("/r" + id)
                .setVersion("1.0"));
  }

  private static ClusterStatus.Builder two() {
    return ClusterStatus.newBuilder()
        .addServers(
            server(1, "a")
                .setHeard(true)
                .setReplicas(12)
                .setUsage(SpaceUsage.newBuilder().setUsed(25 * MIB).setCapacity(100 * MIB)))
        .addServers(server(2, "longer").setTrouble("silent for 00:00:11"));
  }

  @Test
  void shouldSayNothingOfAServerAlone() {
    ClusterStatus alone = ClusterStatus.newBuilder().addServers(server(1, "a")).build();
    assertThat(ClusterText.lines(alone)).isEmpty();
    assertThat(ClusterText.summary(alone)).isEmpty();
    assertThat(ClusterText.lines(alone.toBuilder().addWarnings("b:1 has not joined").build()))
        .hasLineCount(1)
        .contains("b:1 has not joined");
  }

  @Test
  void shouldListServersSlabsAndRepair() {
    ClusterStatus cluster =
        two()
            .addWarnings("fewer servers than copies")
            .addSlabs(SlabStatus.newBuilder().setState("open").setSlabs(3))
            .addSlabs(SlabStatus.newBuilder().setState("short").setSlabs(1))
            .setRepair(
                RepairStatus.newBuilder()
                    .setSlabsWaiting(1)
                    .setBytesLeft(20 * MIB)
                    .setBytesPerSecond(10 * MIB))
            .setFiles(FileHealth.newBuilder().setMissing(4))
            .build();
    assertThat(ClusterText.lines(cluster).lines())
        .containsExactly(
            "warning      fewer servers than copies",
            "servers      2, of which 1 in trouble",
            "  ID ADDRESS     STATE RACK VERSION USED          OF      SLABS HEALTH",
            "  1  a:7420      up    /r1  1.0     25 MiB (25 %) 100 MiB 12    well",
            "  2  longer:7420 up    /r2  1.0     -             -       0     silent for 00:00:11",
            "slabs        3 open, 1 short",
            "repair       1 slab waits, 0 copied now, 20 MiB left at 10 MiB/s, done in 00:00:02",
            "files        0 corrupt, 4 missing: see tako fsck");
    assertThat(ClusterText.summary(cluster))
        .isEqualTo(
            "2 servers, 1 in trouble; repair 10 MiB/s, 20 MiB left; files: 0 corrupt, 4"
                + " missing");
  }

  @Test
  void shouldSayThatNoMemberLeads() {
    GroupStatus group =
        GroupStatus.newBuilder()
            .setLeader(2) // when it was heard of last
            .addMembers(MemberStatus.newBuilder().setServer(1))
            .addMembers(MemberStatus.newBuilder().setServer(2))
            .addMembers(MemberStatus.newBuilder().setServer(3))
            .build();
    ClusterStatus known = two().setGroup(group).build();
    assertThat(ClusterText.lines(known.toBuilder().setLeader(2).build()))
        .contains("servers 1, 2, 3 keep the namespace, and server 2 leads");
    assertThat(ClusterText.lines(known)).contains("and none of them leads, as far as is known");
    assertThat(
            new NamespaceOutage(known, new TakoException(Status.UNAVAILABLE, "no answer"))
                .problem())
        .isEqualTo(
            "servers 1, 2, 3 keep the namespace, and 2 of them must run for one to lead: start those that do"
                + " not (no answer)");
  }

  @Test
  void shouldTellNoTimeForARepairThatIsStuck() {
    RepairStatus.Builder stuck =
        RepairStatus.newBuilder()
            .setSlabsWaiting(3)
            .setSlabsWithoutServer(1)
            .setSlabsWithoutRoom(2)
            .setBytesLeft(MIB)
            .setBytesPerSecond(MIB);
    assertThat(ClusterText.repair(stuck.build())).doesNotContain("done in");
    assertThat(ClusterText.repair(stuck.setSlabsCopiedNow(1).build())).contains("done in");
    assertThat(ClusterText.repair(stuck.setSlabsCopiedNow(0).setSlabsWaiting(4).build()))
        .contains("done in");
  }

  @Test
  void shouldNameALeaderThatWasNotAsked() {
    ServerEntry.Builder entry = ServerEntry.newBuilder().setHost("two").setPort(7420).setId(2);
    ClusterStatus cluster =
        ClusterStatus.newBuilder()
            .setLeader(2)
            .addServers(ServerHealth.newBuilder().setEntry(ServerEntry.newBuilder().setId(1)))
            .addServers(ServerHealth.newBuilder().setEntry(entry))
            .build();
    assertThat(ClusterText.leaderElsewhere(cluster, "one:7420")).contains("server 2 at two:7420");
    assertThat(ClusterText.leaderElsewhere(cluster, "two:7420")).isEmpty();
  }

  @Test
  void shouldSayWhatServersThatLeaveStillHave() {
    ServerEntry leaving =
        ServerEntry.newBuilder().setId(3).setState(ServerEntry.State.DECOMMISSIONING).build();
    ClusterStatus cluster =
        ClusterStatus.newBuilder()
            .addServers(ServerHealth.newBuilder().setEntry(ServerEntry.newBuilder().setId(2)))
            .addServers(ServerHealth.newBuilder().setEntry(leaving).setReplicas(12))
            .build();
    assertThat(RepairCommand.leaving(cluster))
        .containsExactly("server 3 leaves: 12 slabs have a copy there");
  }

  @Test
  void shouldSayWhatRepairWaitsForAndWhatItGoesWithout() {
    RepairStatus idle = RepairStatus.getDefaultInstance();
    assertThat(RepairCommand.lines(idle)).containsExactly("no slab waits for a copy");
    RepairStatus waiting =
        idle.toBuilder().setSlabsWaiting(2).addWaitsFor(3).addWaitsFor(4).build();
    assertThat(RepairCommand.lines(waiting))
        .hasSize(2)
        .first()
        .asString()
        .startsWith("2 slabs wait, 0 copied now");
    assertThat(RepairCommand.lines(waiting).get(1))
        .isEqualTo("nothing is copied before servers 3, 4 answer, or tako repair --force is said");
    assertThat(RepairCommand.lines(idle.toBuilder().addGoesWithout(4).build()))
        .containsExactly("no slab waits for a copy", "it goes on without server 4");
    RepairStatus stuck = idle.toBuilder().setSlabsWaiting(2).setSlabsWithoutServer(2).build();
    assertThat(RepairCommand.lines(stuck))
        .hasSize(2)
        .last()
        .asString()
        .startsWith("2 slabs wait for a server: ");
  }

  @Test
  void shouldSayThatSlabsWereEmptied() {
    RepairStatus repair = RepairStatus.newBuilder().setSlabsEmptied(2).build();
    assertThat(ClusterText.lines(two().setRepair(repair).build()))
        .contains("emptied      2 slabs, because others needed the room");
  }

  @Test
  void shouldLeaveOutWhatIsNotThere() {
    assertThat(ClusterText.lines(two().build()))
        .doesNotContain("slabs  ")
        .doesNotContain("repair")
        .doesNotContain("corrupt");
    assertThat(ClusterText.summary(two().build())).isEqualTo("2 servers, 1 in trouble");
  }
}
