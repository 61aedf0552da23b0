package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.GetClusterMap;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks servers, without a session, who there is and who leads.
 *
 * <p>Thread rule: any thread.
 */
final class LeaderInquiry {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderInquiry.class);

  private final Connector connector;
  private final LeaderSearch search;
  private final Clock clock;

  LeaderInquiry(Connector connector, LeaderSearch search, Clock clock) {
    this.connector = connector;
    this.search = search;
    this.clock = clock;
  }

  /**
   * Has the search know the map of the server at {@code connection}.
   *
   * @throws TakoException when it does not answer
   */
  void learnFrom(ServerConnection connection, long deadlineNs) throws TakoException {
    Request request =
        Request.newBuilder().setGetClusterMap(GetClusterMap.getDefaultInstance()).build();
    Reply reply = connection.call(0, CallNumbers.UNRECORDED, request, deadlineNs);
    search.learn(reply.getClusterMap());
  }

  /**
   * {@code host:port} of a server that leads instead of {@code silent} and says so itself; empty
   * when no server names one. What one server believes of another may be old.
   *
   * @param silent server that does not answer, at {@code address}
   * @param askNs for each server that is asked
   */
  String another(int silent, String address, long askNs) {
    for (String asked : search.candidates()) {
      int named = asked.equals(address) ? 0 : leaderAt(asked, askNs);
      String leader = named == 0 || named == silent ? "" : search.address(named);
      if (!leader.isEmpty() && (leader.equals(asked) || leaderAt(leader, askNs) == named)) {
        return leader;
      }
    }
    return "";
  }

  /** The server that leads as {@code server} knows it; 0 when it does not say. */
  private int leaderAt(String server, long askNs) {
    long deadlineNs = clock.nanoTime() + askNs;
    Request request =
        Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();
    try (ServerConnection connection = connector.connectToAsk(server, deadlineNs)) {
      learnFrom(connection, deadlineNs);
      Reply reply = connection.call(0, CallNumbers.UNRECORDED, request, deadlineNs);
      return switch (reply.getStatus()) {
        case OK -> reply.getClusterStatus().getLeader();
        case SESSION_EXPIRED -> search.id(server); // one that wants a session has some
        default -> 0;
      };
    } catch (IOException | UncheckedIOException e) {
      LOG.debug("{} does not say who leads: {}", server, e.getMessage());
      return 0;
    }
  }
}
