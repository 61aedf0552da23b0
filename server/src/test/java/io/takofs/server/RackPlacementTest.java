package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The racks in which new data lies, and those to which it moves; the servers are scripted. */
class RackPlacementTest extends SlabRepairRig {
  /** Extents of 64 KiB that fill a slab of an arena's first range, which has a unit less. */
  private static final int SLAB = 255;

  private static final String[] THREE_RACKS = {"/a", "/a", "/b", "/b", "/c", "/c"};

  /** The servers of a slab, as they were chosen. */
  private static List<Integer> order(Slab slab) {
    return slab.getReplicasList().stream().map(Replica::getServer).toList();
  }

  private List<Slab> slabs() {
    return List.copyOf(rig.machine.slabs().all());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void shouldBeginAtTheWritersServer(int near) throws TakoException {
    for (int copies = 1; copies <= 3; copies++) {
      lead(3, 8, THREE_RACKS);
      client = rig.openSession(near);
      write("/file", copies, 3);
      run(10);
      assertThat(slabs()).isNotEmpty();
      for (Slab slab : slabs()) {
        List<Integer> chosen = order(slab);
        assertThat(chosen).hasSize(copies).doesNotHaveDuplicates().startsWith(near);
        if (copies > 1) {
          assertThat(servers.rack(chosen.get(1))).isNotEqualTo(servers.rack(near));
        }
        if (copies > 2) {
          assertThat(servers.rack(chosen.get(2))).isEqualTo(servers.rack(chosen.get(1)));
        }
      }
    }
  }

  @Test
  void shouldUseBothOfTwoRacks() throws TakoException {
    for (int copies = 2; copies <= 3; copies++) {
      lead(3, 8, "/a", "/a", "/a", "/b");
      write("/file", copies, SLAB);
      assertThat(slabs()).isNotEmpty().allMatch(slab -> racksOf(slab) == 2);
    }
  }

  @Test
  void shouldGoOnInOneRackWhenTheOthersAreFull() throws TakoException {
    lead(3, new LentSlabs[] {LentSlabs.of(8), LentSlabs.of(8), LentSlabs.of(1)}, "/a", "/a", "/b");
    write("/first", 2, SLAB);
    assertThat(serversOf(dataSlab())).contains(3);
    for (int i = 0; i < 5; i++) {
      write("/more" + i, 2, SLAB);
      assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    }
    checkRest();
  }

  @Test
  void shouldNotWaitForARackThatIsSuspected() throws Exception {
    lead(3, 8, "/a", "/a", "/b");
    servers.stop(3);
    run(2);
    long before = rig.nowMs();
    write("/file", 2, SLAB);
    assertThat(rig.nowMs() - before).as("until it counts as dead").isLessThan(8_000);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    servers.start(3);
    await(() -> racksOf(dataSlab()) == 2 && isWhole(2), 60);
    assertThat(order(dataSlab())).as("the writer's replica stays").startsWith(1);
    checkNoLeak(1, 2, 3);
  }

  /** As when the script that tells the racks is configured later. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void shouldMoveAReplicaOfEachSlabToAnotherRackOneAtATime(int copies) throws Exception {
    lead(3, 16, "/a", "/a", "/a", "/a", "/a", "/a");
    for (int i = 0; i < 6; i++) {
      write("/file" + i, copies, SLAB);
    }
    checkRest();
    servers.copied = 50;
    for (int server = 4; server <= 6; server++) {
      servers.place(server, "/b");
    }
    run(1);
    assertThat(slabs()).anyMatch(slab -> racksOf(slab) == 1);
    await(
        () -> {
          assertThat(rig.repair.status().getSlabsCopiedNow()).isLessThanOrEqualTo(1);
          return slabs().stream().allMatch(slab -> racksOf(slab) == 2);
        },
        300);
    assertThat(servers.copies).isPositive();
    await(() -> isWhole(copies), 60);
    checkRest();
    assertThat(slabs()).allMatch(slab -> racksOf(slab) == 2);
    checkNoLeak(1, 2, 3, 4, 5, 6);
  }

  /** In two minutes everything is where it is to be, and nothing moves any more. */
  private void checkRest() {
    run(120);
    List<Slab> rest = slabs();
    servers.copies = 0;
    run(300);
    assertThat(slabs()).isEqualTo(rest);
    assertThat(servers.copies).isZero();
  }

  @Test
  void shouldComeToRestWhenTheOtherRackHasTooLittleRoom() throws Exception {
    lead(2, 16, "/a", "/a", "/a");
    for (int i = 0; i < 6; i++) {
      write("/file" + i, 2, SLAB);
    }
    checkRest();
    servers.place(4, "/b");
    servers.add(LentSlabs.of(2));
    await(() -> slabs().stream().filter(slab -> racksOf(slab) == 2).count() == 2, 120);
    checkRest();
    assertThat(isWhole(2)).isTrue();
    assertThat(slabs()).filteredOn(slab -> racksOf(slab) == 2).hasSize(2);
    checkNoLeak(1, 2, 3, 4);
  }

  /** What is free there is too short: nothing moves to a third server of the same rack instead. */
  @Test
  void shouldNotMoveWithinARackInstead() throws Exception {
    LentSlabs[] whole = new LentSlabs[3];
    for (int i = 0; i < whole.length; i++) {
      whole[i] = new LentSlabs(List.of(4L * Layout.SLAB_SIZE));
    }
    lead(2, whole, "/a", "/a", "/a");
    write("/short", 2, SLAB);
    write("/whole", 2, SLAB + 1);
    delete("/short");
    checkRest();
    Slab slab = dataSlab();
    assertThat(slab.getFirstUnit()).isZero();
    servers.place(4, "/b");
    servers.add(LentSlabs.of(1));
    checkRest();
    assertThat(slab(slab.getId())).as("it fits nowhere else").isEqualTo(slab);
    assertThat(servers.zone(4).held()).as("what was too short").hasSize(1);
  }

  /** A client that reported a server gets no grants there, and would leave the slab. */
  @Test
  void shouldMoveNothingToAServerThatAClientReported() throws Exception {
    lead(2, 16, "/a", "/a", "/b");
    write("/early", 2, 3);
    assertThat(racksOf(dataSlab())).isEqualTo(2);
    cannotUse(written, 3);
    write("/file", 2, SLAB);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    run(20);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    await(() -> racksOf(dataSlab()) == 2 && isWhole(2), 60);
  }
}
