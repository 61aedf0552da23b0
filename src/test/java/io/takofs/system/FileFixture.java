package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * What is tested (a data server in this process, or a cluster of which each keeps a copy of every
 * file), a client of it over some transport, and a path for each test.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FileFixture {
  final String transport;
  private final int servers;
  TestedFileSystem server;
  TakoClient client;
  private int files;
  String path;

  FileFixture(String transport) {
    this(transport, 1);
  }

  FileFixture(String transport, int servers) {
    this.transport = transport;
    this.servers = servers;
  }

  @BeforeAll
  void start() throws Exception {
    server =
        servers == 1
            ? new LocalServer("256m")
            : ServerCluster.start(servers, "fs.tako.server.pool.size", "512m");
    client = connect();
    if (servers > 1) { // else files have fewer copies at first, and the client asks who joined
      ClusterHealth.awaitServers(client, servers, Duration.ofMinutes(2));
    }
  }

  @AfterAll
  void stop() throws Exception {
    client.close();
    server.close();
  }

  TakoClient connect() throws IOException {
    return Clients.connect(
        server.uri(), transport, "fs.tako.replication", Integer.toString(servers));
  }

  @BeforeEach
  void choosePath() throws IOException {
    if (files > 0) {
      client.delete("/test" + files, true);
    }
    files++;
    client.mkdirs("/test" + files);
    path = "/test" + files + "/file";
  }

  static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  static void assertEqual(byte[] actual, byte[] expected) {
    assertThat(actual.length).isEqualTo(expected.length);
    assertThat(Arrays.mismatch(actual, expected)).describedAs("first difference").isEqualTo(-1);
  }

  byte[] readAll() throws IOException {
    try (TakoInputStream in = client.open(path)) {
      return in.readAllBytes();
    }
  }

  static void assertStatus(ThrowingCallable call, Status status) {
    Throwable failure = catchThrowable(call);
    assertThat(failure).isInstanceOf(TakoException.class);
    assertThat(((TakoException) failure).status()).isEqualTo(status);
  }
}
