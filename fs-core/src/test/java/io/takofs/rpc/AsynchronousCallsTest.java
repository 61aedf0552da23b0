package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.GetUsage;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.rpc.AsynchronousCalls.PendingCall;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls whose outcome a handler gets, without a connection. */
class AsynchronousCallsTest {
  private final AsynchronousCalls calls = new AsynchronousCalls();
  private final CallFailures failures = new CallFailures("loopback", "test");

  /** Remembers what it was told. */
  private static final class Heard implements ReplyHandler {
    final List<String> outcomes = new ArrayList<>();

    @Override
    public void onReply(Reply reply) {
      outcomes.add("reply");
    }

    @Override
    public void onFailure(TakoException failure) {
      outcomes.add(failure.status().name());
    }
  }

  private static PendingCall call(long sequence, long deadlineNs, ReplyHandler handler) {
    Request request = Request.newBuilder().setGetUsage(GetUsage.getDefaultInstance()).build();
    return new PendingCall(1, sequence, request, deadlineNs, handler);
  }

  private static ClientSlot posted(long deadlineNs, ReplyHandler handler) {
    ClientSlot slot = new ClientSlot(0, null, null);
    slot.handler = handler;
    slot.deadlineNanos = deadlineNs;
    slot.post(1, 1, "GET_USAGE");
    return slot;
  }

  private void expire(long nowNs, ClientSlot... slots) {
    calls
        .expire(slots, nowNs, operation -> failures.deadlineExceeded(operation, 0))
        .forEach(Runnable::run);
  }

  @Test
  void shouldGiveSlotsToCallsInTheOrderInWhichTheyCame() {
    calls.await(call(1, 100, new Heard()));
    calls.await(call(2, 100, new Heard()));
    assertThat(calls.next().sequence()).isEqualTo(1);
    assertThat(calls.next().sequence()).isEqualTo(2);
    assertThat(calls.next()).isNull();
  }

  @Test
  void shouldDeliverWhatIsDecidedOnce() {
    ClientSlot slot = posted(100, new Heard());
    calls.decide(slot);
    assertThat(calls.takeDecided()).containsExactly(slot);
    assertThat(calls.takeDecided()).isEmpty();
  }

  @Test
  void shouldEndOnlyCallsWhoseDeadlineHasPassed() {
    Heard waitsInTime = new Heard();
    Heard waitsTooLong = new Heard();
    calls.await(call(1, 100, waitsInTime));
    calls.await(call(2, 50, waitsTooLong));
    expire(50);
    assertThat(waitsInTime.outcomes).isEmpty();
    assertThat(waitsTooLong.outcomes).containsExactly("DEADLINE_EXCEEDED");
    assertThat(calls.next().sequence()).isEqualTo(1);
    assertThat(calls.next()).isNull();
  }

  @Test
  void shouldPoisonTheSlotOfACallWhoseDeadlineHasPassed() {
    Heard late = new Heard();
    Heard inTime = new Heard();
    ClientSlot first = posted(50, late);
    ClientSlot second = posted(51, inTime);
    expire(50, first, second);
    assertThat(late.outcomes).containsExactly("DEADLINE_EXCEEDED");
    assertThat(first.state).isEqualTo(ClientSlot.State.POISONED);
    assertThat(inTime.outcomes).isEmpty();
    assertThat(second.state).isEqualTo(ClientSlot.State.POSTED);
    expire(50, first, second);
    assertThat(late.outcomes).hasSize(1);
  }

  @Test
  void shouldLeaveBlockedCallersToThemselves() {
    ClientSlot slot = posted(50, null);
    expire(60, slot);
    assertThat(slot.state).isEqualTo(ClientSlot.State.POSTED);
  }

  @Test
  void shouldDecideWaitingCallsWhenTheConnectionEnds() {
    Heard heard = new Heard();
    calls.await(call(1, 100, heard));
    calls.failPending();
    assertThat(calls.next()).isNull();
    List<ClientSlot> decided = calls.takeDecided();
    assertThat(decided).hasSize(1);
    assertThat(decided.get(0).handler).isSameAs(heard);
    assertThat(decided.get(0).parsed).isNull();
  }
}
