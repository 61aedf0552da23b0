package io.takofs.server.peer;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import java.util.List;
import java.util.function.Consumer;

/**
 * The servers that keep slabs, for the leader of one group.
 *
 * <p>Thread rule: the owner of the group, who holds the group's lock. The answer of the local
 * server comes before {@link #call} returns, on the calling thread, unless the leader's entries
 * have to be committed first. The answer of another server comes later: the owner takes it and runs
 * the consumer, with the group's lock held. The thread that receives it from the network never
 * holds that lock, and never runs the consumer.
 */
public interface DataServers {
  /**
   * Asks {@code serverId}, and waits for nothing.
   *
   * @param request LeaseSlabs, ReturnSlabs, ListSlabs, FenceExtents or CopyExtents
   * @param answer gets the reply, whatever status that has, exactly once: UNAVAILABLE when there is
   *     no such server, or none that can be reached. Whether the server did what was asked is
   *     unknown then, so a request must be one that may be asked again
   */
  void call(int serverId, Request request, Consumer<Reply> answer);

  /**
   * Runs the consumers of the answers that have come by now. The owner calls it in every turn of
   * its housekeeping.
   */
  void deliver();

  /** The servers that are known by now, in order of their ids; the local one is among them. */
  List<ServerEntry> servers();

  /** The group keeps nothing at {@code serverId} any more, which was to leave the cluster. */
  default void emptied(int serverId) {}
}
