package io.takofs.sim.slab;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The calls of a leader whose connections break now and then. It does not connect again at once, so
 * that for a while it cannot ask a server that writers reach, and does without it.
 */
final class BrokenCalls implements DataServers {
  /** One of so many calls breaks the connection. */
  private static final int BREAKS_IN = 300;

  private static final long BROKEN_MAX_NS = 400_000_000;

  private final SimScheduler scheduler;
  private final SimProcess leader;
  private final DataServers real;
  private final Map<Integer, Long> brokenUntilNs = new HashMap<>(); // by server
  private boolean breaks = true;

  BrokenCalls(SimScheduler scheduler, SimProcess leader, DataServers real) {
    this.scheduler = scheduler;
    this.leader = leader;
    this.real = real;
  }

  /** No connection is broken any more. */
  void heal() {
    breaks = false;
    brokenUntilNs.clear();
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    if (!isBroken(serverId) && breaks && scheduler.random().nextInt(BREAKS_IN) == 0) {
      brokenUntilNs.put(serverId, scheduler.nowNs() + scheduler.delayNs(0, BROKEN_MAX_NS));
    }
    if (isBroken(serverId)) {
      Reply refusal = Reply.newBuilder().setStatus(Status.UNAVAILABLE).build();
      scheduler.schedule(leader, 0, () -> answer.accept(refusal));
      return;
    }
    real.call(serverId, request, answer);
  }

  private boolean isBroken(int serverId) {
    return scheduler.nowNs() < brokenUntilNs.getOrDefault(serverId, 0L);
  }

  @Override
  public List<ServerEntry> servers() {
    return real.servers();
  }

  @Override
  public void deliver() {
    real.deliver();
  }
}
