package io.takofs.server.peer;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The data server of this process, when there is no other.
 *
 * <p>Thread rule: that of {@link DataServers}; every answer comes at once.
 */
public final class LocalDataServer implements DataServers {
  private final ServerEntry self;
  private final Function<Request, Reply> handler;

  /**
   * @param self this server, as others know it
   * @param handler executes requests to the data zone, and does not wait
   */
  public LocalDataServer(ServerEntry self, Function<Request, Reply> handler) {
    this.self = self;
    this.handler = handler;
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    answer.accept(serverId == self.getId() ? handler.apply(request) : unknown(serverId));
  }

  @Override
  public void deliver() {
    // Every answer came at once.
  }

  @Override
  public List<ServerEntry> servers() {
    return List.of(self);
  }

  /** The answer for a server that nobody knows. */
  static Reply unknown(int serverId) {
    return Reply.newBuilder()
        .setStatus(Status.UNAVAILABLE)
        .setMessage("the cluster has no server " + serverId + "; 'tako status' lists its servers")
        .build();
  }
}
