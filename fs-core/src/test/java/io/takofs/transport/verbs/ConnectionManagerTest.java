package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import io.takofs.jni.NativeControl;
import io.takofs.transport.verbs.ConnectionManager.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The event loop of the connection manager, without a device. */
@Timeout(60)
class ConnectionManagerTest {
  private static final int NOTHING = 0;
  private static final int NO_MEMORY = -12;

  @Test
  void shouldStopWaitingWhenThereWillBeNoEventAnyMore() {
    Queue<Integer> results =
        new ArrayDeque<>(
            List.of(
                NOTHING,
                NativeControl.EVENT,
                NO_MEMORY,
                NativeControl.EVENT,
                NativeControl.EVENTS_ENDED));
    AtomicInteger dispatched = new AtomicInteger();
    ConnectionManager.takeEvents(results::remove, dispatched::incrementAndGet);
    assertThat(results).isEmpty();
    assertThat(dispatched).hasValue(2);
  }

  @Test
  void shouldTellConnectionsThatTheirDeviceIsGoneWhicheverFails() {
    List<Event> told = new ArrayList<>();
    ConnectionManager.tellEnd(
        null,
        event -> {
          throw new IllegalStateException("fails to hear of it");
        });
    ConnectionManager.tellEnd(null, told::add);
    assertThat(told)
        .extracting(Event::type)
        .containsExactly(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL);
  }
}
