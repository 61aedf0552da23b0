package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Objects made in part leave no file, file descriptor, key or place in a queue. */
@Timeout(60)
class ShmLeftoversTest {
  private static final int ATTEMPTS = 8;

  @TempDir Path directory;

  private ShmSide server;
  private ShmSide client;
  private Transport.Listener listener;

  @BeforeEach
  void open() throws IOException {
    server = new ShmSide(directory.resolve("server"));
    client = new ShmSide(directory.resolve("client"));
    listener = server.transport.listen("", server);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** Names of the files of {@code side}, with those of its domains. */
  private static List<String> files(Path side) throws IOException {
    try (Stream<Path> all = Files.walk(side)) {
      return all.filter(path -> !Files.isDirectory(path)).map(Path::toString).sorted().toList();
    }
  }

  private static long sockets() {
    long found = 0;
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : descriptors.toList()) {
        // One that was closed meanwhile is none.
        found += Files.exists(each) && target(each).startsWith("socket:") ? 1 : 0;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** Clients connect again and again while a server is away. */
  @Test
  void shouldForgetWhatIsClosed() throws IOException {
    List<String> before = files(directory);
    List<WeakReference<Object>> closed = new ArrayList<>();
    for (int i = 0; i < ATTEMPTS; i++) {
      CompletionQueue queue = client.transport.createCompletionQueue(1);
      ProtectionDomain domain = client.transport.allocateProtectionDomain();
      queue.close();
      domain.close();
      closed.add(new WeakReference<>(queue));
      closed.add(new WeakReference<>(domain));
    }
    client.pollUntil(
        "the end of what is closed",
        () -> {
          System.gc();
          return closed.stream().allMatch(each -> each.refersTo(null));
        });
    assertThat(files(directory)).isEqualTo(before);
  }

  @Test
  void shouldCloseTheSocketOfAConnectionThatItCannotMake() throws IOException {
    client.connect(listener.endpoint()).close(); // opens what stays open
    client.pollUntil("the end of the connection", () -> server.disconnected.size() == 1);
    long before = sockets();
    List<String> filesBefore = files(directory.resolve("client"));
    QueuePairConfig impossible =
        new QueuePairConfig(
            client.domain, client.queue, client.queue, Layout.SHM_QUEUE_DEPTH_MAX + 1, 1);
    for (int i = 0; i < ATTEMPTS; i++) {
      assertThatThrownBy(
              () ->
                  client.transport.connect(
                      listener.endpoint(), impossible, new byte[0], ShmSide.TIMEOUT_NS))
          .isInstanceOf(IllegalStateException.class);
    }
    // A selector closes its sockets when it runs next: those of the first connection too, so fewer
    // may be left than there were, but never so many fewer that they hide one of every attempt.
    client.pollUntil("the sockets to be closed", () -> sockets() <= before);
    assertThat(files(directory.resolve("client"))).isEqualTo(filesBefore);
  }

  @Test
  void shouldGiveBackTheInboxAndThePlaceOfAPairThatAQueueHasNoRoomFor() throws IOException {
    ShmCompletionQueue full = (ShmCompletionQueue) client.transport.createCompletionQueue(1024);
    ShmQueuePair filler =
        client.transport.newQueuePair(new QueuePairConfig(client.domain, full, full, 1, 1));
    for (int taken = 1; taken < Layout.SHM_QUEUE_PAIRS; taken++) {
      assertThat(full.attach(filler)).isEqualTo(taken);
    }
    ShmCompletionQueue other = (ShmCompletionQueue) client.transport.createCompletionQueue(1024);
    QueuePairConfig config = new QueuePairConfig(client.domain, full, other, 1, 1);
    List<String> before = files(directory.resolve("client"));
    assertThatThrownBy(() -> client.transport.newQueuePair(config))
        .hasMessageContaining("close some");
    assertThat(files(directory.resolve("client"))).isEqualTo(before);
    assertThat(other.attach(filler)).isZero(); // the first place is free again
  }

  @Test
  void shouldGiveBackTheKeyAndTheFileOfARegionThatCannotBeRegistered() throws IOException {
    MappedMemory closed = MappedMemory.create(directory.resolve("closed"), 4096);
    closed.close();
    List<String> before = files(directory.resolve("client"));
    assertThatThrownBy(() -> client.domain.register(closed, 0, 4096, Access.REMOTE_READ))
        .hasMessageContaining("closed mapping");
    assertThat(files(directory.resolve("client")).stream().filter(name -> !name.endsWith("peers")))
        .containsExactlyElementsOf(before);
    MemoryRegion next = client.domain.allocate(1, Access.REMOTE_READ);
    int index = Layout.SHM_EXPORTS - 1;
    assertThat(next.rkey() & index).isEqualTo((client.region.rkey() & index) + 1);
  }
}
