package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclType;
import io.takofs.proto.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Values and habits of users that must cost nobody anything. */
@Timeout(120)
class UsersValuesTest {
  private static final long MEMORY_MAX = 64 << 20;

  private LocalServer server;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    server = new LocalServer("256m");
    client = server.connect("tcp", "fs.tako.client.memory.max", Long.toString(MEMORY_MAX));
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private static void assertInvalid(ThrowingCallable call, String message) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(TakoException.class).hasMessageContaining(message);
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldRefuseTinyBlocks() throws IOException {
    for (long size : new long[] {1, 1000, (1 << 20) - 1}) {
      assertInvalid(
          () -> client.create("/f", CreateOptions.DEFAULT.withBlockSize(size)),
          "fs.tako.server.block.size.min");
    }
    client.create("/f", CreateOptions.DEFAULT.withBlockSize(1 << 20)).close();
    assertThat(client.getStatus("/f").blockSize()).isEqualTo(1 << 20);
  }

  @Test
  void shouldRefuseNamesThatUtf8CannotExpress() throws IOException {
    client.create("/a?", CreateOptions.DEFAULT).close();
    for (String name : List.of("/a\ud800", "/a\udc00", "/\ud800/b", "/a\udc00\ud800")) {
      assertInvalid(() -> client.getStatus(name), "surrogate");
      assertInvalid(() -> client.create(name, CreateOptions.DEFAULT), "surrogate");
      assertInvalid(() -> client.delete(name, true), "surrogate");
      assertInvalid(() -> client.rename("/a?", name, true), "surrogate");
      assertInvalid(() -> client.deleteFiles("/", List.of(name.substring(1))), "surrogate");
    }
    assertThat(Clients.list(client, "/")).hasSize(1);
    client.create("/a\ud83d\ude00", CreateOptions.DEFAULT).close();
    assertThat(client.getStatus("/a\ud83d\ude00").length()).isEqualTo(0);
  }

  @Test
  void shouldRefusePrincipalsAndXattrsThatUtf8CannotExpress() throws IOException {
    client.create("/f", CreateOptions.DEFAULT).close();
    client.setOwner("/f", "a?", "a?");
    String name = "a\ud800";
    assertInvalid(() -> client.setOwner("/f", name, null), "surrogate");
    assertInvalid(() -> client.setOwner("/f", null, name), "surrogate");
    AclEntry entry =
        AclEntry.newBuilder().setType(AclType.USER).setName(name).setPermission(7).build();
    assertInvalid(() -> client.acls().modify("/f", List.of(entry)), "surrogate");
    assertInvalid(() -> client.acls().removeEntries("/f", List.of(entry)), "surrogate");
    byte[] value = {1};
    assertInvalid(() -> client.xattrs().set("/f", "user." + name, value, true, true), "surrogate");
    assertInvalid(() -> client.xattrs().remove("/f", "user." + name), "surrogate");
    assertInvalid(() -> client.xattrs().get("/f", List.of("user." + name)), "surrogate");
    assertThat(client.xattrs().names("/f")).isEmpty();
    assertThat(client.acls().get("/f").getEntriesList()).isEmpty();
    assertThat(client.getStatus("/f").owner()).isEqualTo("a?");
  }

  @Test
  void shouldTakeTheBuffersOfStreamsBackThatNobodyClosed() throws Exception {
    byte[] content = new byte[4 << 20];
    for (int i = 0; i < 40; i++) {
      try (TakoOutputStream out = client.create("/f" + i, CreateOptions.DEFAULT)) {
        out.write(content);
      }
      if (i >= 25) {
        client.delete("/f" + (i - 25), false);
      }
    }
    for (int i = 15; i < 40; i++) {
      readAndDrop("/f" + i);
    }
    // A quarter of what there may be is kept for the next.
    Poll.until(
        "buffers released",
        Duration.ofSeconds(30),
        () -> {
          System.gc();
          return client.bufferBytes() <= MEMORY_MAX / 4;
        });
  }

  private void readAndDrop(String path) throws IOException {
    TakoInputStream in = client.open(path);
    assertThat(in.readNBytes(1 << 20)).hasSize(1 << 20);
  }
}
