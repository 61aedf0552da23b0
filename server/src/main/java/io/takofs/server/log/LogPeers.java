package io.takofs.server.log;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
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
   * Connects to the memory of a member's log.
   *
   * @param grant to write under; 0 to read
   * @param answer gets null when the member does not let this one in, or does not answer
   */
  void connect(int server, long term, long grant, Consumer<QueuePair> answer);

  /** The queue on which the sends of all connections complete. */
  CompletionQueue queue();

  /** Registered memory of this member for {@code length} bytes that are sent. */
  MemoryRegion allocate(int length);
}
