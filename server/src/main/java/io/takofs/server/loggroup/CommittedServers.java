package io.takofs.server.loggroup;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The data servers for a leader whose entries may be lost until they are committed: what it asks of
 * a server follows from its state, so it is asked when all of that state is committed.
 *
 * <p>Thread rule: the owner of the group.
 */
final class CommittedServers implements DataServers {
  private final DataServers servers;
  private final Journal journal;
  private final BooleanSupplier over;

  /**
   * @param over whether this server leads no more: answers that come then are nobody's
   */
  CommittedServers(DataServers servers, Journal journal, BooleanSupplier over) {
    this.servers = servers;
    this.journal = journal;
    this.over = over;
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    Consumer<Reply> whileLeading =
        reply -> {
          if (!over.getAsBoolean()) {
            answer.accept(reply);
          }
        };
    if (journal.isSettled()) {
      servers.call(serverId, request, whileLeading);
    } else {
      journal.whenCommitted(() -> callLate(serverId, request, whileLeading));
    }
  }

  /** The caller has returned, so that it cannot be told of an exception. */
  private void callLate(int serverId, Request request, Consumer<Reply> answer) {
    try {
      servers.call(serverId, request, answer);
    } catch (RuntimeException e) { // no thread could be made, say
      answer.accept(
          Reply.newBuilder()
              .setStatus(Status.UNAVAILABLE)
              .setMessage("server " + serverId + " could not be asked: " + e)
              .build());
    }
  }

  @Override
  public void deliver() {
    servers.deliver();
  }

  @Override
  public List<ServerEntry> servers() {
    return servers.servers();
  }

  @Override
  public void emptied(int serverId) {
    journal.whenCommitted(() -> servers.emptied(serverId));
  }
}
