package io.takofs.server.log;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.transport.QueuePair;
import java.util.function.Consumer;

/**
 * The way from one member of a group to the others.
 *
 * <p>Thread rule: any thread. Nothing waits; each answer comes exactly once, later.
 */
public interface LogPeers {
  /**
   * Asks a member.
   *
   * @param answer gets UNAVAILABLE when it cannot be reached; what it did is unknown then
   */
  void call(int server, Request request, Consumer<Reply> answer);

  /**
   * The transport, one of this member's, over which it reaches the memory of {@code server}; null
   * while that is not known.
   */
  LogTransport transportTo(int server);

  /**
   * Connects to the memory of a member's log.
   *
   * @param grant to write under; 0 to read
   * @param answer gets null when the member does not let this one in, or does not answer
   */
  void connect(int server, LogTransport via, long term, long grant, Consumer<QueuePair> answer);
}
