package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Status;
import io.takofs.server.log.Log;
import io.takofs.server.store.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JournalTest {
  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  private final AtomicInteger proposed = new AtomicInteger();

  /** Gives its log's handler what is proposed; whatever else is asked, the answer is 0. */
  private <T> T obedient(Class<T> type) {
    return fake(
        type,
        (self, method, arguments) -> {
          switch (method.getName()) {
            case "propose" -> proposed.incrementAndGet();
            case "poll" ->
                ((Log.CommitHandler) arguments[0]).onCommit(proposed.get(), 0, EMPTY.duplicate());
            default -> {}
          }
          Class<?> result = method.getReturnType();
          return result == long.class ? (Object) 0L : result == int.class ? 0 : false;
        });
  }

  @Test
  void shouldSayThatTheOutcomeOfAnEntryIsUnknownThatCannotBeApplied() {
    // Without a state machine none can be.
    Journal journal =
        new Journal(
            Clock.SYSTEM,
            obedient(Log.class),
            obedient(Store.class),
            null,
            new Counters(),
            Long.MAX_VALUE);
    LogEntry entry = LogEntry.newBuilder().setClientId(1).build();
    assertThatThrownBy(() -> journal.execute(entry))
        .hasMessageContaining("unknown")
        .hasFieldOrPropertyWithValue("status", Status.INTERNAL);
    assertThatThrownBy(() -> journal.execute(entry))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    assertThat(proposed).hasValue(1);
  }

  /** Has no memory for what is proposed; whatever else is asked, the answer is 0. */
  private <T> T full(Class<T> type) {
    return fake(
        type,
        (self, method, arguments) -> {
          if (method.getName().equals("propose")) {
            proposed.incrementAndGet();
            throw new OutOfMemoryError("as the test wants it");
          }
          return 0L;
        });
  }

  private static <T> T fake(Class<T> type, InvocationHandler calls) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
  }

  @Test
  void shouldWriteNothingBehindAnEntryThatMayBeWrittenInPart() {
    Journal journal =
        new Journal(
            Clock.SYSTEM, full(Log.class), full(Store.class), null, new Counters(), Long.MAX_VALUE);
    LogEntry entry = LogEntry.newBuilder().setClientId(1).build();
    assertThatThrownBy(() -> journal.execute(entry)).isInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(() -> journal.execute(entry))
        .isInstanceOf(TakoException.class)
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    assertThat(proposed).hasValue(1);
  }
}
