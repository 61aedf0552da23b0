package io.takofs.sim.cluster;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.server.peer.DataServers;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Function;

/** The data servers of a leader that is server 1: its own, and others by messages. */
final class SimPeers implements DataServers {
  static final int LEADER = 1;

  private final ClusterMap map;
  private final Function<Request, Reply> local;
  private final DataServers others;
  private final Runnable answered;
  private final Queue<Runnable> answers = new ArrayDeque<>();

  /**
   * @param answered runs when there are answers to deliver
   */
  SimPeers(ClusterMap map, Function<Request, Reply> local, DataServers others, Runnable answered) {
    this.map = map;
    this.local = local;
    this.others = others;
    this.answered = answered;
  }

  /** The map of servers 1 to {@code count}, of which the first leads. */
  static ClusterMap map(int count) {
    ClusterMap.Builder map = ClusterMap.newBuilder().setEpoch(1).setLastServerId(count);
    for (int id = 1; id <= count; id++) {
      map.addServers(ServerEntry.newBuilder().setId(id).setPoolId(id).setHost("sim").setPort(id));
    }
    map.addGroupsBuilder().setId(1).addMembers(LEADER);
    return map.build();
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    if (serverId == LEADER) {
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
    return map.getServersList();
  }

  @Override
  public void deliver() {
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      answer.run();
    }
  }
}
