package io.takofs.client.internal.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.MemoryRegion;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StagingTest {
  private static final int MAX = 4 << 20;
  private static final int BUFFER = 256 << 10;

  /** A stream's earlier buffers are not kept at the cost of other streams. */
  @Test
  void shouldStayWithinTheBudgetWhenBuffersMoveToAnotherTransport() throws IOException {
    MemoryBudget budget = new MemoryBudget(MAX);
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        TcpTransport another = new TcpTransport(TcpSettings.DEFAULT);
        LocalMemory before = new LocalMemory(transport, budget);
        LocalMemory after = new LocalMemory(another, budget)) {
      List<MemoryRegion> buffers = new ArrayList<>();
      for (int used = 0; used < MAX; used += BUFFER) {
        buffers.add(before.staging().tryTakeNeeded(BUFFER));
      }
      List<MemoryRegion> moved = new ArrayList<>();
      for (MemoryRegion buffer : buffers) {
        moved.add(after.staging().exchange(BUFFER));
        before.staging().release(buffer);
      }
      assertThat(budget.peak()).isEqualTo(MAX + BUFFER);
      moved.forEach(after.staging()::release);
      budget.trim();
      assertThat(budget.used()).isZero();
      assertThat(budget.peak()).isEqualTo(MAX + BUFFER);
    }
  }
}
