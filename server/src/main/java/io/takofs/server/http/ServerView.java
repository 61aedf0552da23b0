package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import java.util.Optional;

/**
 * The queries that the pages send to the server.
 *
 * <p>Thread rule: any thread.
 */
public interface ServerView {
  /**
   * State and counters.
   *
   * @throws TakoException UNAVAILABLE when the server is stuck; after a bounded time
   */
  ServerStatus status() throws TakoException;

  /**
   * The whole cluster, as far as the server knows it.
   *
   * @throws TakoException as {@link #status}
   */
  ClusterStatus cluster() throws TakoException;

  /**
   * Answers {@code request}, which changes nothing, as {@code user} would be answered.
   *
   * @throws TakoException UNAVAILABLE when the server is stuck, or the user's groups are not known;
   *     after a bounded time
   */
  Reply query(String user, Request request) throws TakoException;

  /** Why the server does not serve, if so; waits for a bounded time. */
  Optional<String> sickness();
}
