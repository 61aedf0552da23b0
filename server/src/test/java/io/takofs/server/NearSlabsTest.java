package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Replica;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Writers on several hosts, each of which has a server; the servers are scripted. */
class NearSlabsTest extends SlabRepairRig {
  private static final int SERVERS = 5;

  private void leadInOneRack(int copies, int slabs) throws TakoException {
    lead(copies, slabs, IntStream.range(0, SERVERS).mapToObj(i -> "/a").toArray(String[]::new));
  }

  /** The servers of the slab where the last extent of a new file of {@code extents} is. */
  private List<Integer> writeFrom(int server, int copies, int extents) throws TakoException {
    client = rig.openSession(server);
    write("/" + rig.nowMs(), copies, extents);
    run(1);
    return rig.machine.slabs().get(written).getReplicasList().stream()
        .map(Replica::getServer)
        .toList();
  }

  @Test
  void shouldHaveACopyOnEachWritersHost() throws TakoException {
    for (int copies = 1; copies <= 3; copies++) {
      leadInOneRack(copies, 16);
      for (int round = 0; round < 3; round++) {
        for (int near = 1; near <= SERVERS; near++) {
          List<Integer> servers = writeFrom(near, copies, 1);
          if (round > 0) { // a writer does not wait for its first slab
            assertThat(servers).hasSize(copies).contains(near);
          }
        }
      }
    }
  }

  /** There is room elsewhere, so neither a grant nor housekeeping needs the slab. */
  @Test
  void shouldGoOnWhenTheLogRefusesASlabOnTheWritersHost() throws TakoException {
    leadInOneRack(2, 32);
    writeFrom(1, 2, 1);
    run(5);
    rig.log.refuse(LogEntry::hasAddSlab);
    for (int i = 0; i < 20; i++) {
      assertThat(writeFrom(4, 2, 1)).hasSize(2);
    }
    assertThat(rig.log.refusals()).as("tried again after a pause").isBetween(2, 6);
    rig.log.refuse(null);
    run(5);
    writeFrom(4, 2, 1);
    assertThat(writeFrom(4, 2, 1)).contains(4);
  }

  /** Slabs come before those on its host are full, and none of the others is used any more. */
  @Test
  void shouldStayOnTheWritersHost() throws TakoException {
    leadInOneRack(2, 32);
    writeFrom(1, 2, 1);
    writeFrom(4, 2, 1);
    for (int i = 0; i < 100; i++) {
      assertThat(writeFrom(4, 2, 10)).as("file %d", i).contains(4);
    }
  }

  /** More than an eighth of these servers is free in the slabs that were leased ahead. */
  @Test
  void shouldShareSlabsOnSmallServers() throws TakoException {
    leadInOneRack(2, 5);
    writeFrom(1, 2, 1);
    run(5);
    int slabs = rig.machine.slabs().size();
    for (int round = 0; round < 3; round++) {
      for (int near = 1; near <= SERVERS; near++) {
        assertThat(writeFrom(near, 2, 1)).hasSize(2);
      }
    }
    assertThat(rig.machine.slabs().size()).isEqualTo(slabs);
  }

  @Test
  void shouldGoOnElsewhereWhenTheWritersServerIsFullOrSilent() throws Exception {
    LentSlabs[] zones = {LentSlabs.of(32), LentSlabs.of(32), LentSlabs.of(2)};
    lead(1, zones, "/a", "/a", "/a");
    Set<List<Integer>> where = new HashSet<>();
    for (int i = 0; i < 8; i++) {
      where.add(writeFrom(3, 1, 100));
    }
    assertThat(where).contains(List.of(3)).hasSizeGreaterThan(1);
    servers.stop(2);
    run(30);
    assertThat(writeFrom(2, 1, 1)).doesNotContain(2);
  }
}
