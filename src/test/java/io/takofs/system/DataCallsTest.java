package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** File data costs the server no call, by whatever transport: only what grants and commits it. */
@Timeout(300)
class DataCallsTest {
  private static final int MIB = 1 << 20;
  private static final int FILE_MIB = 24;

  @Test
  void shouldCostNoCallAMebibyteOverSharedMemory() throws Exception {
    Map<String, Long> calls = callsFor("shm");
    assertThat(calls.get("calls.grant_extents")).isLessThanOrEqualTo(FILE_MIB / 8 + 5);
    assertThat(calls).containsEntry("calls.commit_extents", 1L).containsEntry("calls.create", 1L);
  }

  @Tag("verbs")
  @Test
  void shouldCostAsManyCallsOverVerbsAsOverSharedMemory() throws Exception {
    assertThat(callsFor("verbs")).isEqualTo(callsFor("shm"));
  }

  /** Calls of each kind for writing and reading a file, all connections being there. */
  private static Map<String, Long> callsFor(String transport) throws Exception {
    try (LocalServer server = new LocalServer("128m");
        TakoClient client = server.connect(transport)) {
      assertThat(client.transportVerdict()).startsWith(transport);
      writeAndRead(client, "/first");
      Map<String, Long> before = calls(client);
      writeAndRead(client, "/second");
      Map<String, Long> after = calls(client);
      after.replaceAll((name, count) -> count - before.getOrDefault(name, 0L));
      after.values().removeIf(count -> count == 0);
      after.remove("calls"); // with those that ask for the counters
      after.remove("calls.get_server_status");
      after.remove("calls.renew_leases"); // by time and not by bytes
      return after;
    }
  }

  private static void writeAndRead(TakoClient client, String path) throws Exception {
    byte[] piece = new byte[MIB];
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int i = 0; i < FILE_MIB; i++) {
        Pattern.fill(path, (long) i * MIB, piece, MIB);
        out.write(piece);
      }
    }
    byte[] content = Clients.read(client, path);
    assertThat(content).hasSize(FILE_MIB * MIB);
    Pattern.check(path, content);
  }

  private static Map<String, Long> calls(TakoClient client) throws Exception {
    Map<String, Long> calls = new TreeMap<>(client.serverStatus().getCountersMap());
    calls.keySet().removeIf(name -> !name.startsWith("calls"));
    return calls;
  }
}
