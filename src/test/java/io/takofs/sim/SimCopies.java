package io.takofs.sim;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabCopy;
import io.takofs.server.zone.SlabSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Copies extents of slabs to one incarnation of a server, which reads the memory of the others
 * one-sided: what it gets is what is there when the read ends, while others go on.
 */
public final class SimCopies {
  /** A read of an extent, or its verification. */
  private static final long WORK_MAX_NS = 300_000;

  /**
   * One of so many extents takes as long as a leader waits for it, and longer, unless all is calm.
   */
  private static final int LATE_IN = 20;

  private static final long LATE_MAX_NS = 60_000_000_000L;

  private final SimNetwork network;
  private final SimMachine target;
  private final SimProcess process;
  private final List<? extends SimMachine> machines;
  private final SlabCopy copy;
  private boolean scheduled;

  private SimCopies(
      SimNetwork network,
      SimMachine target,
      ServerDataZone zone,
      List<? extends SimMachine> machines) {
    this.network = network;
    this.target = target;
    this.process = target.process();
    this.machines = machines;
    this.copy = zone.copyFrom(this::open, target.clock());
  }

  /**
   * Lets leaders copy extents to {@code zone}.
   *
   * @param target the server that {@code zone} is of
   * @param machines that it can copy from
   */
  public static void serve(
      SimNetwork network,
      SimMachine target,
      ServerDataZone zone,
      List<? extends SimMachine> machines) {
    SimCopies copies = new SimCopies(network, target, zone, machines);
    copies.copy.onWork(() -> copies.schedule(0));
  }

  private void schedule(long pauseNs) {
    if (!scheduled) {
      scheduled = true;
      boolean calm = network.conditions().equals(SimConditions.CALM);
      boolean late = !calm && network.scheduler().random().nextInt(LATE_IN) == 0;
      long workNs = network.scheduler().delayNs(0, late ? LATE_MAX_NS : WORK_MAX_NS);
      network.scheduler().schedule(process, pauseNs + workNs, this::step);
    }
  }

  /** One at a time: what asks for another one while it waits is answered when it is done. */
  private void step() {
    long pauseNs = copy.step();
    scheduled = false;
    if (pauseNs < Long.MAX_VALUE) {
      schedule(pauseNs);
    }
  }

  private SlabSource open(int server) throws TakoException {
    SimProcess source = find(server).process();
    return new SlabSource() {
      @Override
      public Bytes read(int arena, int offset, int length) throws TakoException {
        long roundTripNs = network.latencyNs(process, source) + network.latencyNs(source, process);
        network.scheduler().pass(roundTripNs);
        process.goOn(network.scheduler());
        SimMachine machine = find(server);
        if (machine.process() != source) {
          throw gone(server);
        }
        int entries = length / Layout.GRANULE_SIZE * Integer.BYTES;
        int entriesAt = offset / Layout.GRANULE_SIZE * Integer.BYTES;
        ByteBuffer memory = machine.arena(arena);
        return new Bytes(part(memory, offset, length), part(memory, entriesAt, entries));
      }

      @Override
      public void close() {}
    };
  }

  private static ByteBuffer part(ByteBuffer memory, int offset, int length) {
    return memory.slice(offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  private SimMachine find(int server) throws TakoException {
    for (SimMachine machine : machines) {
      if (machine.id() == server && machine.isAlive() && reaches(machine)) {
        return machine;
      }
    }
    throw gone(server);
  }

  private boolean reaches(SimMachine machine) {
    SimLinks links = network.links();
    return !links.isCut(process, machine.process()) && !links.isCut(machine.process(), process);
  }

  private TakoException gone(int server) {
    return new TakoException(
        Status.DISCONNECTED, "server " + server + " does not answer server " + target.id());
  }
}
