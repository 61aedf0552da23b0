package io.takofs.sim;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Calls of a leader to data servers as messages: each may be lost, be executed without an answer,
 * or late, when the server stands meanwhile.
 */
public final class SimCalls implements DataServers {
  private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private final SimNetwork network;
  private final SimProcess leader;
  private final List<SimDataServer> servers;

  public SimCalls(SimNetwork network, SimProcess leader, List<SimDataServer> servers) {
    this.network = network;
    this.leader = leader;
    this.servers = servers;
  }

  private static final class Once {
    private boolean answered;
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    Once once = new Once();
    SimDataServer server =
        servers.stream().filter(each -> each.id() == serverId).findAny().orElse(null);
    if (server != null && server.isAlive()) {
      SimProcess called = server.process();
      network.schedule(
          network.latencyNs(leader, called),
          () -> {
            if (!network.links().isCut(leader, called)) {
              network
                  .scheduler()
                  .schedule(called, 0, () -> reply(called, server.handle(request), once, answer));
            }
          });
    }
    network
        .scheduler()
        .schedule(
            leader,
            TIMEOUT_NS,
            () -> {
              if (!once.answered) {
                once.answered = true;
                answer.accept(Reply.newBuilder().setStatus(Status.UNAVAILABLE).build());
              }
            });
  }

  private void reply(SimProcess called, Reply reply, Once once, Consumer<Reply> answer) {
    network.schedule(
        network.latencyNs(called, leader),
        () -> {
          if (!once.answered && !network.links().isCut(called, leader)) {
            once.answered = true;
            leader.run(() -> answer.accept(reply));
          }
        });
  }

  @Override
  public List<ServerEntry> servers() {
    return servers.stream()
        .map(server -> ServerEntry.newBuilder().setId(server.id()).build())
        .toList();
  }

  @Override
  public void deliver() {}
}
