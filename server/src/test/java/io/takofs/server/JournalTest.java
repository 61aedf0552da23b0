package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.log.Log;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Status;
import io.takofs.server.store.Store;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JournalTest {
  private final AtomicInteger proposed = new AtomicInteger();

  /** Has no memory for what is proposed; whatever else is asked, the answer is 0. */
  private <T> T full(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getName().equals("propose")) {
                proposed.incrementAndGet();
                throw new OutOfMemoryError("as the test wants it");
              }
              return 0L;
            }));
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
