package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.List;

/** Questions to a server that has no sessions, so they are asked without one. */
public final class FollowerInquiry {
  private FollowerInquiry() {}

  /**
   * Connects, asks and waits for the reply, within {@code fs.tako.client.connect.timeout}.
   *
   * @param server {@code host:port}
   * @throws TakoException when it does not answer, or refuses
   */
  public static Reply ask(String server, TakoConfig config, Request request) throws TakoException {
    long deadlineNs =
        Clock.SYSTEM.nanoTime() + config.get(ConfigKeys.CLIENT_CONNECT_TIMEOUT).toNanos();
    try (RpcConnector connector = new RpcConnector(List.of(server), config);
        ServerConnection connection = connector.connect(0, deadlineNs)) {
      Reply reply = connection.call(0, CallNumbers.UNRECORDED, request, deadlineNs);
      if (reply.getStatus() != Status.OK) {
        throw new TakoException(reply.getStatus(), server + ": " + reply.getMessage());
      }
      return reply;
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(Status.UNAVAILABLE, e.getMessage(), e);
    }
  }
}
