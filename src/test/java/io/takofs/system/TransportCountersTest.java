package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.TransportStatus;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Counters of client and server for each transport. */
@Timeout(120)
class TransportCountersTest {
  private static final int LENGTH = 1_000_000;

  @Test
  void shouldSayWhatBothSidesDid() throws Exception {
    try (ServerProcess server = ServerProcess.start();
        TakoClient tcp = Clients.connect(server, "tcp");
        TakoClient shm = Clients.connect(server, "shm")) {
      assertThat(tcp.transportCounters()).isEmpty();
      try (TakoOutputStream out = tcp.create("/file", CreateOptions.DEFAULT)) {
        out.write(new byte[LENGTH]);
      }
      assertThat(Clients.read(shm, "/file")).hasSize(LENGTH);

      Map<String, Long> mine = tcp.transportCounters().get("tcp");
      assertThat(mine.get("bytes")).isGreaterThanOrEqualTo(LENGTH);
      assertThat(mine).containsEntry("connects", 2L).containsEntry("queue_pairs", 2L);
      assertThat(mine).containsEntry("reconnects", 0L).containsEntry("completions.flushed", 0L);
      assertThat(mine.get("completions.success")).isPositive();
      assertThat(shm.transportCounters()).containsOnlyKeys("shm");
      for (TransportStatus theirs : tcp.serverStatus().getTransportsList()) {
        if (theirs.getTransport().equals("verbs")) {
          continue; // The machine has a device; nobody used it.
        }
        Map<String, Long> counters = theirs.getCountersMap();
        assertThat(counters).as(theirs.getTransport()).containsEntry("connects", 2L);
        assertThat(counters.get("receives")).as(theirs.getTransport()).isPositive();
        assertThat(counters.get("sends")).as(theirs.getTransport()).isPositive();
        assertThat(counters.get("bytes")).as("file data goes past the server").isLessThan(LENGTH);
      }
      assertThat(tcp.serverStatus().getTransportsList())
          .extracting(TransportStatus::getTransport)
          .contains("shm", "tcp");
    }
  }

  @Test
  void shouldCountConnectionsMadeAgain() throws Exception {
    try (ServerProcess server = ServerProcess.start();
        TakoClient client = Clients.connect(server, "tcp")) {
      client.mkdirs("/one");
      server.kill();
      server.restart();
      client.mkdirs("/two");
      Map<String, Long> counters = client.transportCounters().get("tcp");
      assertThat(counters.get("reconnects")).isPositive();
      assertThat(counters.get("connects")).isGreaterThan(counters.get("reconnects"));
      assertThat(counters).containsEntry("queue_pairs", 1L);
    }
  }
}
