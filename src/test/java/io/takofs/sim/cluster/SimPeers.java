package io.takofs.sim.cluster;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.server.peer.DataServers;
import io.takofs.sim.SimMap;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Function;

/** The data servers of a leader that is server 1: its own, and others by messages. */
final class SimPeers implements DataServers {
  private final SimMap map;
  private final Function<Request, Reply> local;
  private final DataServers others;
  private final Runnable answered;
  private final Queue<Runnable> answers = new ArrayDeque<>();

  /**
   * @param answered runs when there are answers to deliver
   */
  SimPeers(SimMap map, Function<Request, Reply> local, DataServers others, Runnable answered) {
    this.map = map;
    this.local = local;
    this.others = others;
    this.answered = answered;
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    if (serverId == SimMap.LEADER) {
      answer.accept(local.apply(request));
      return;
    }
    others.call(
        serverId,
        request,
        reply -> {
          answers.add(() -> answer.accept(reply));
          answered.run();
        });
  }

  @Override
  public List<ServerEntry> servers() {
    return map.get().getServersList();
  }

  @Override
  public void deliver() {
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      answer.run();
    }
  }
}
