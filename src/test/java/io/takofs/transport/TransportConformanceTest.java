package io.takofs.transport;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * Everything the SPI promises. A transport is conformant when a subclass that only makes its {@link
 * TransportWorld} passes:
 *
 * <pre>{@code
 * class SimTransportConformanceTest extends TransportConformanceTest {
 *   @Override
 *   protected TransportWorld newWorld() { ... }
 * }
 * }</pre>
 *
 * <p>Each test makes its world anew through {@link #harness()}. The timeout is a net under tests
 * that hang; no test measures wall time.
 */
@Timeout(120)
public abstract class TransportConformanceTest
    implements DataOperationTests,
        AtomicOperationTests,
        ImmediateTests,
        AccessTests,
        WindowTests,
        CounterTests,
        FailureTests,
        RevocationTests,
        ConnectionTests,
        CompletionQueueTests,
        RandomOperationTests {
  private TransportHarness harness;

  /** Makes two transports that can reach each other. */
  protected abstract TransportWorld newWorld() throws IOException;

  @Override
  public final TransportHarness harness() throws IOException {
    if (harness == null) {
      harness = new TransportHarness(newWorld());
    }
    return harness;
  }

  @AfterEach
  final void closeWorld() {
    if (harness != null) {
      harness.close();
    }
  }
}
