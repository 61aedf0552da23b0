package io.takofs.server;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.loggroup.GroupState;
import io.takofs.server.snapshot.SnapshotSource;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.Store;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Lets other members take over the last checkpoint of the group's state here. Their calls wait for
 * whoever holds the group's lock, so that none of the threads that carry calls waits for it.
 *
 * <p>Thread rule: the holder of the group's lock; {@link #add} any.
 */
final class GroupSnapshots {
  private final SnapshotSource source;
  private final Queue<IncomingCall> calls = new ConcurrentLinkedQueue<>();
  private Store present;

  GroupSnapshots(SnapshotSource source) {
    this.source = source;
  }

  /** A member asks; it is answered by {@link #answer}. */
  void add(IncomingCall call) {
    calls.add(call);
  }

  /** Checkpoints of {@code store} are held from now on; null for none. */
  void use(Store store) {
    if (store != present) {
      present = store;
      source.use(store instanceof PagedStore paged ? paged : null);
    }
  }

  /**
   * Executes the calls that wait.
   *
   * @param out gets what sends the replies, when the lock is free
   */
  void answer(GroupState state, List<Runnable> out) {
    for (IncomingCall call = calls.poll(); call != null; call = calls.poll()) {
      IncomingCall answered = call;
      Reply reply = source.handle(call.request());
      if (isTooOld(call.request(), reply) && present != null) {
        // A group in which nothing changes makes none by itself.
        state.journal().beginCheckpointForAnother();
      }
      out.add(() -> answered.reply(reply));
    }
  }

  private static boolean isTooOld(Request request, Reply reply) {
    return request.hasOpenSnapshot() && reply.getStatus() == Status.UNAVAILABLE;
  }

  /** Closes what nobody reads any more. */
  void tick() {
    source.tick();
  }
}
