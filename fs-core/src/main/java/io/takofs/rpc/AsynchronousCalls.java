package io.takofs.rpc;

import io.takofs.base.TakoException;
import io.takofs.proto.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The calls of one connection whose outcome a handler gets: those that wait for a slot, and those
 * that are decided and not delivered yet. Calls between these two states are in their slots.
 *
 * <p>Thread rule: guarded by the client's lock. Handlers run without it, so this only says which.
 */
final class AsynchronousCalls {
  /** A call that waits for a slot. */
  record PendingCall(
      long clientId, long sequence, Request request, long deadlineNanos, ReplyHandler handler) {}

  private final ArrayDeque<PendingCall> pending = new ArrayDeque<>();
  private final ArrayList<ClientSlot> decided = new ArrayList<>();

  /** {@code call} found no free slot. */
  void await(PendingCall call) {
    pending.add(call);
  }

  /** Takes the call that has waited longest; null when none waits. */
  PendingCall next() {
    return pending.poll();
  }

  /** The call in {@code slot} has a reply, or will have none. */
  void decide(ClientSlot slot) {
    decided.add(slot);
  }

  /** Takes the slots whose calls are decided, to be delivered. */
  List<ClientSlot> takeDecided() {
    if (decided.isEmpty()) {
      return List.of();
    }
    List<ClientSlot> taken = new ArrayList<>(decided);
    decided.clear();
    return taken;
  }

  /**
   * Ends the calls whose deadline has passed. Their slots are poisoned until the late reply.
   *
   * @param failure makes the failure from the name of an operation
   * @return what tells the handlers, to be run without the lock
   */
  List<Runnable> expire(
      ClientSlot[] slots, long nowNanos, Function<String, TakoException> failure) {
    List<Runnable> failures = new ArrayList<>();
    for (ClientSlot slot : slots) {
      ReplyHandler handler = slot.handler;
      if (handler != null
          && slot.state == ClientSlot.State.POSTED
          && nowNanos - slot.deadlineNanos >= 0) {
        slot.state = ClientSlot.State.POISONED;
        slot.handler = null;
        TakoException late = failure.apply(slot.operation);
        failures.add(() -> handler.onFailure(late));
      }
    }
    pending.removeIf(
        call -> {
          boolean late = nowNanos - call.deadlineNanos >= 0;
          if (late) {
            TakoException why = failure.apply(RpcMessage.operation(call.request));
            failures.add(() -> call.handler.onFailure(why));
          }
          return late;
        });
    return failures;
  }

  /** The connection has ended: the calls that wait for a slot will get none. */
  void failPending() {
    for (PendingCall call : pending) {
      ClientSlot orphan = new ClientSlot(-1, null, null);
      orphan.handler = call.handler;
      decided.add(orphan);
    }
    pending.clear();
  }
}
