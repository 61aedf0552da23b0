package io.takofs.server;

import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.LeaderWait;
import io.takofs.rpc.RpcConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * Calls that open or resume a session at a server that does not know who leads. They wait a while
 * for the next leader, so that clients learn of it when it is there, and need not ask again and
 * again while the members elect it.
 *
 * <p>Thread rule: the owner of the group.
 */
final class WaitingSessions {
  private static final int WAITING_MAX = 4096;

  private final Queue<Waiting> waiting = new ArrayDeque<>();

  private record Waiting(IncomingCall call, long sinceNs) {}

  /** Keeps those of {@code calls} that open sessions; returns the others, in their order. */
  List<IncomingCall> keep(List<IncomingCall> calls, long nowNs) {
    List<IncomingCall> others = new ArrayList<>(calls.size());
    for (IncomingCall call : calls) {
      if (call.request().hasOpenSession() && waiting.size() < WAITING_MAX) {
        waiting.add(new Waiting(call, nowNs));
      } else {
        others.add(call);
      }
    }
    return others;
  }

  /** {@code connection} has ended: nobody waits for its calls. */
  void forget(RpcConnection connection) {
    waiting.removeIf(each -> each.call.connection() == connection);
  }

  /**
   * The calls that wait no more.
   *
   * @param all whether that is so of all of them, because somebody leads
   */
  List<IncomingCall> take(boolean all, long nowNs) {
    List<IncomingCall> taken = new ArrayList<>();
    while (!waiting.isEmpty() && (all || nowNs - waiting.peek().sinceNs >= LeaderWait.NS)) {
      taken.add(waiting.poll().call);
    }
    return taken;
  }
}
