package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.member.CheckpointTakeover;
import io.takofs.server.member.MemberState;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Takes over the checkpoint of one member: has it held, gives up the state here, and has its
 * entries some time later, unless the source has ended, was cut off or gave it up meanwhile, also
 * for a checkpoint that it takes over itself. How pages are read is simulated by {@link
 * io.takofs.sim.snapshot.SnapshotSimulation}.
 */
final class SimTakeover implements CheckpointTakeover.Attempt {
  private static final long ANSWER_MAX_NS = 20_000_000;
  private static final long[] WHILE_MAX_NS = {1_000_000, 30_000_000, 400_000_000};

  /** One of so many sources needs its pages itself before they are read. */
  private static final int GIVEN_UP_IN = 8;

  private final SimNetwork network;
  private final List<SimLogMember> group;
  private final SimLogMember self;
  private final SimProcess own;
  private final MemberState state;

  SimTakeover(
      SimNetwork network,
      List<SimLogMember> group,
      SimLogMember self,
      SimProcess own,
      MemberState state) {
    this.network = network;
    this.group = group;
    this.self = self;
    this.own = own;
    this.state = state;
  }

  @Override
  public void begin(int server, BooleanSupplier stopped, Consumer<Throwable> ended) {
    SimLogMember source = group.get(server - 1);
    SimProcess from = source.process();
    long needed = state.neededIndex();
    boolean[] answered = new boolean[1];
    if (from.isAlive()) {
      network
          .scheduler()
          .schedule(
              from,
              network.latencyNs(own, from),
              () -> open(source, from, needed, answered, ended));
    }
    network
        .scheduler()
        .schedule(
            own,
            ANSWER_MAX_NS,
            () -> {
              if (!answered[0]) {
                answered[0] = true;
                ended.accept(unavailable(server, "does not answer"));
              }
            });
  }

  /** At the source. */
  private void open(
      SimLogMember source,
      SimProcess from,
      long needed,
      boolean[] answered,
      Consumer<Throwable> ended) {
    if (network.links().isCut(own, from)) {
      return;
    }
    SimCheckpoint.Held held = source.hold(needed);
    network
        .scheduler()
        .schedule(
            own,
            network.latencyNs(from, own),
            () -> {
              if (!answered[0] && !network.links().isCut(from, own)) {
                answered[0] = true;
                list(source, from, held, ended);
              }
            });
  }

  /** The list of pages comes in pieces. */
  private void list(
      SimLogMember source, SimProcess from, SimCheckpoint.Held held, Consumer<Throwable> ended) {
    if (held == null) {
      ended.accept(unavailable(source.id(), "has no checkpoint that is new enough"));
    } else {
      network.scheduler().schedule(own, aWhileNs(), () -> read(source, from, held, ended));
    }
  }

  private long aWhileNs() {
    long longest = WHILE_MAX_NS[network.scheduler().random().nextInt(WHILE_MAX_NS.length)];
    return network.scheduler().delayNs(0, longest);
  }

  private void read(
      SimLogMember source, SimProcess from, SimCheckpoint.Held held, Consumer<Throwable> ended) {
    boolean hadState = !state.isGivenUp();
    try {
      state.giveUp(held.index());
    } catch (TakoException e) {
      if (hadState && state.isGivenUp()) {
        self.takeBack();
      }
      ended.accept(e);
      return;
    }
    self.beginCheckpoint(own);
    boolean givenUp = network.scheduler().random().nextInt(GIVEN_UP_IN) == 0;
    network
        .scheduler()
        .schedule(
            own,
            aWhileNs(),
            () -> {
              boolean cut = network.links().isCut(own, from) || network.links().isCut(from, own);
              if (givenUp || cut || !from.isAlive() || !source.isHeld(held)) {
                ended.accept(unavailable(source.id(), "was lost, or gave its checkpoint up"));
              } else {
                self.finishCheckpoint(own, held);
                ended.accept(null);
              }
            });
  }

  private static TakoException unavailable(int server, String why) {
    return new TakoException(Status.UNAVAILABLE, "server " + server + " " + why);
  }
}
