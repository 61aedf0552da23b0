package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.OperationStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joining many files that are too small for an extent, as parts of an upload may be. */
@Timeout(180)
class SmallSourcesTest {
  private final Random random = new Random(3);
  private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
  private LocalServer server;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    server = new LocalServer("1g");
    client = server.connect("tcp");
    client.mkdirs("/d");
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private void write(String path, int length) throws IOException {
    byte[] content = new byte[length];
    random.nextBytes(content);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    expected.write(content);
  }

  private List<String> writeSources(String name, int count, int length) throws IOException {
    List<String> written = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      written.add("/d/" + name + "-" + i);
      write(written.get(i), length);
    }
    return written;
  }

  private void assertJoined() throws IOException {
    assertThat(Arrays.equals(Clients.read(client, "/d/target"), expected.toByteArray())).isTrue();
    assertThat(Clients.list(client, "/d")).hasSize(1);
    assertThat(client.getStatus("/d/target").underConstruction()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 16, 10",
    "0, 17, 10",
    "7, 20, 10",
    "0, 32, 10",
    "0, 100, 10", // all of it fits the metadata
    "100, 300, 10", // not all of it does
    "5, 300, 1024",
    "70000, 300, 1024"
  })
  void shouldJoinThemAll(int targetLength, int count, int length) throws IOException {
    write("/d/target", targetLength);
    client.concat("/d/target", writeSources("source", count, length));
    assertJoined();
  }

  /** One entry moves 8192 extents: it stops at the second large source, before small ones. */
  @Test
  void shouldGoOnAfterARequestThatWasDoneInPart() throws IOException {
    List<String> sources = new ArrayList<>(List.of("/d/first", "/d/second"));
    for (String source : sources) {
      write(source, 1024);
      client.concat(source, writeSources("part", 4200, 1024));
    }
    write("/d/target-content", 1);
    byte[] last = expected.toByteArray();
    expected.reset();
    expected.write(last, last.length - 1, 1);
    expected.write(last, 0, last.length - 1);
    client.rename("/d/target-content", "/d/target", false);
    sources.addAll(writeSources("small", 5, 100));
    long grantsBefore = grants();
    client.concat("/d/target", sources);
    assertThat(grants() - grantsBefore).isEqualTo(6);
    assertJoined();
  }

  /** Calls for space for one extent so far. */
  private long grants() throws IOException {
    return client.serverStatus().getOperationsList().stream()
        .filter(operation -> operation.getOperation().equals("grant_extents"))
        .mapToLong(OperationStatus::getCalls)
        .sum();
  }
}
