package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.FencedExtents;
import io.takofs.proto.Leadership;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.peer.DataServers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Slab 1 is on servers 1 and 3, slab 2 on 1 and 2; server 3 does not answer at first. */
class FencingLimitTest {
  private final Map<Long, Slab> slabs = new HashMap<>(Map.of(1L, slab(1, 3), 2L, slab(1, 2)));
  private final ManualClock clock = new ManualClock();
  private boolean silent = true;
  private final Fencing fencing =
      new Fencing(clock, new MaybeSilent(), Leadership::getDefaultInstance, slabs::get);

  private static Slab slab(int... servers) {
    Slab.Builder slab = Slab.newBuilder();
    for (int server : servers) {
      slab.addReplicas(Replica.newBuilder().setServer(server));
    }
    return slab.build();
  }

  private final class MaybeSilent implements DataServers {
    @Override
    public void call(int server, Request request, Consumer<Reply> answer) {
      int count = request.getFenceExtents().getExtentsCount();
      FencedExtents all =
          FencedExtents.newBuilder().addAllDone(IntStream.range(0, count).boxed().toList()).build();
      answer.accept(
          server == 3 && silent
              ? Reply.newBuilder().setStatus(Status.UNAVAILABLE).build()
              : Reply.newBuilder().setFencedExtents(all).build());
    }

    @Override
    public void deliver() {
      // Every answer came at once.
    }

    @Override
    public List<ServerEntry> servers() {
      return List.of();
    }
  }

  private static Quarantined extent(long slab, int generation) {
    return new Quarantined(new SlabRange(slab, 0, Layout.UNIT_SIZE), generation, 1, 0, 0);
  }

  private List<Quarantined> ask(List<Quarantined> extents) {
    return List.copyOf(fencing.ask(extents, extent -> false));
  }

  @Test
  void shouldFreeElsewhereWhateverWaitsForAServerThatIsSilent() {
    List<Quarantined> waiting =
        IntStream.rangeClosed(0, Fencing.WAITING_MAX).mapToObj(each -> extent(1, each)).toList();
    assertThat(ask(waiting)).isEmpty();
    clock.advanceMillis(5);
    assertThat(fencing.askedForNs(waiting.get(0))).isEqualTo(5_000_000);
    Quarantined tooMany = waiting.get(Fencing.WAITING_MAX);
    assertThat(fencing.askedForNs(tooMany)).as("one more than may wait").isZero();
    List<Quarantined> other = List.of(extent(2, 1), extent(2, 2));
    assertThat(ask(other)).isEqualTo(other);

    silent = false;
    assertThat(ask(waiting.subList(0, Fencing.WAITING_MAX))).hasSize(Fencing.WAITING_MAX);
    assertThat(ask(List.of(tooMany))).containsExactly(tooMany);
    silent = true;
    assertThat(ask(waiting)).as("all of the room is there again").isEmpty();
    clock.advanceMillis(7);
    assertThat(fencing.askedForNs(waiting.get(Fencing.WAITING_MAX - 1))).isEqualTo(7_000_000);
  }

  @Test
  void shouldForgetWhatRestedInASlabThatIsGone() {
    List<Quarantined> waiting =
        IntStream.range(0, Fencing.WAITING_MAX).mapToObj(each -> extent(1, each)).toList();
    assertThat(ask(waiting)).isEmpty();
    slabs.remove(1L);
    slabs.put(3L, slab(1, 3));
    assertThat(ask(List.of(extent(3, 1)))).isEmpty();
    clock.advanceMillis(5);
    assertThat(fencing.askedForNs(extent(3, 1))).as("there was room").isEqualTo(5_000_000);
    assertThat(fencing.askedForNs(waiting.get(0))).isZero();
  }
}
