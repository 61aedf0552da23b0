package io.takofs.server.slabs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.SpaceUsage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlabPlacementTest {
  private final Map<Integer, String> racks = new HashMap<>();
  private final List<SlabLender> lending = new ArrayList<>();
  private final SlabPlacement placement = new SlabPlacement(racks::get);

  /** One more server of so many slabs, all of which can be lent; they are numbered from 1. */
  private SlabLender add(String rack, int slabs) {
    SlabLender lender = new SlabLender(lending.size() + 1);
    racks.put(lender.server, rack);
    lending.add(lender);
    lender.usage = SpaceUsage.newBuilder().setCapacity(bytes(slabs)).setFree(bytes(slabs)).build();
    return lender;
  }

  private static long bytes(int slabs) {
    return (long) slabs * Layout.SLAB_SIZE;
  }

  private static void use(SlabLender lender, int slabs) {
    long free = lender.usage.getFree() - bytes(slabs);
    lender.usage = lender.usage.toBuilder().setFree(free).build();
  }

  private List<Integer> choose(int count, int near) {
    return placement.choose(lending, count, near).stream().map(each -> each.server).toList();
  }

  @Test
  void shouldTakeTheWritersServerThenAnotherRackThenAnotherServerOfThat() {
    for (String rack : List.of("/a", "/a", "/b", "/b", "/c", "/c")) {
      add(rack, 16);
    }
    use(lending.get(2), 2);
    use(lending.get(3), 2);
    assertThat(choose(1, 2)).containsExactly(2);
    assertThat(choose(2, 2)).containsExactly(2, 5);
    assertThat(choose(3, 2)).containsExactly(2, 5, 6);
    assertThat(choose(3, 5)).containsExactly(5, 1, 2);
    use(lending.get(0), 3);
    use(lending.get(1), 3);
    assertThat(choose(3, 5)).containsExactly(5, 3, 4);
    assertThat(choose(3, 0)).as("a writer on no server's host").containsExactly(5, 3, 4);
    assertThat(choose(5, 2)).as("more copies than that").containsExactly(2, 5, 6, 3, 4);
  }

  @Test
  void shouldTakeAThirdRackWhenTheSecondHasNoOtherServer() {
    add("/a", 16);
    add("/a", 16);
    add("/b", 16);
    add("/c", 12);
    assertThat(choose(3, 1)).containsExactly(1, 3, 4);
  }

  @Test
  void shouldPutAtMostTwoOfThreeReplicasInOneOfTwoRacks() {
    add("/a", 16);
    add("/a", 16);
    add("/a", 16);
    add("/b", 4);
    use(lending.get(3), 3);
    assertThat(choose(2, 1)).containsExactly(1, 4);
    assertThat(choose(3, 1)).containsExactly(1, 4, 2);
    assertThat(choose(3, 4)).containsExactly(4, 1, 2);
    assertThat(choose(4, 1)).containsExactly(1, 4, 2, 3);
  }

  @Test
  void shouldTakeAnyServersOfTheOnlyRack() {
    add("/a", 16);
    add("/a", 16);
    add("/a", 16);
    use(lending.get(1), 1);
    assertThat(choose(2, 0)).containsExactly(1, 3);
    assertThat(choose(3, 2)).containsExactly(2, 1, 3);
  }

  /** A rack counts more than what was leased already, and that more than what is free. */
  @Test
  void shouldUseWhatWasLeasedAlready() {
    add("/a", 16);
    add("/a", 16).spare.add(LeasedSlab.getDefaultInstance());
    add("/b", 16);
    add("/b", 4).spare.add(LeasedSlab.getDefaultInstance());
    use(lending.get(3), 3);
    assertThat(choose(2, 1)).containsExactly(1, 4);
    lending.get(3).spare.clear();
    assertThat(choose(2, 1)).containsExactly(1, 3);
  }

  @Test
  void shouldFillUnequalServersEvenly() {
    add("/a", 40);
    add("/b", 8);
    add("/b", 16);
    add("/b", 32);
    for (int i = 0; i < 28; i++) {
      placement.choose(lending, 2, 1).forEach(lender -> use(lender, 1));
    }
    for (SlabLender lender : lending.subList(1, 4)) {
      assertThat(lender.freeShare()).as("server %d", lender.server).isBetween(0.43, 0.57);
    }
  }

  /** Any of 90 servers may be the writer's; those of a rack have numbers that follow each other. */
  @ParameterizedTest
  @CsvSource({"1, 2, 7", "1, 3, 10", "3, 2, 8", "3, 3, 25"})
  void shouldKeepTheScatterWidthSmallAndFillEvenly(int rackCount, int copies, int peersMax) {
    int count = 90;
    for (int i = 0; i < count; i++) {
      add("/" + i * rackCount / count, 1000);
    }
    Random random = new Random(17);
    Map<Integer, Set<Integer>> peers = new HashMap<>();
    for (int i = 0; i < 200 * count; i++) {
      List<SlabLender> chosen = placement.choose(lending, copies, 1 + random.nextInt(count));
      for (SlabLender lender : chosen) {
        use(lender, 1);
        chosen.forEach(
            other -> peers.computeIfAbsent(lender.server, s -> new HashSet<>()).add(other.server));
      }
    }
    for (SlabLender lender : lending) {
      assertThat(peers.get(lender.server).size() - 1).isLessThanOrEqualTo(peersMax);
      double used = 0.2 * copies;
      assertThat(1 - lender.freeShare())
          .as("server %d", lender.server)
          .isBetween(used - 0.05, used + 0.05);
    }
  }
}
