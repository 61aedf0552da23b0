package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.log.Log;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Status;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JournalTest {
  @Test
  void shouldWriteNothingBehindAnEntryThatMayBeWrittenInPart() {
    AtomicInteger proposed = new AtomicInteger();
    Log log =
        (Log)
            Proxy.newProxyInstance(
                Log.class.getClassLoader(),
                new Class<?>[] {Log.class},
                (self, method, arguments) -> {
                  if (method.getName().equals("propose")) {
                    proposed.incrementAndGet();
                    throw new OutOfMemoryError("as the test wants it");
                  }
                  return 0L;
                });
    Journal journal = new Journal(log, null, null, new Counters(), Long.MAX_VALUE);
    LogEntry entry = LogEntry.newBuilder().setClientId(1).build();
    assertThatThrownBy(() -> journal.execute(entry)).isInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(() -> journal.execute(entry))
        .isInstanceOf(TakoException.class)
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    assertThat(proposed).hasValue(1);
  }
}
