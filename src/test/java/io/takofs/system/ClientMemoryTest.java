package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.OpenOptions;
import io.takofs.client.OpenOptions.ReadPattern;
import io.takofs.client.ReadRange;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client's buffers stay within what it may have, and its streams work all the same. */
@Timeout(120)
class ClientMemoryTest {
  private static final int MAX = 4 << 20;
  private static final int LENGTH = 3_000_000;

  /** Each writer needs a page of its own beyond the limit at most. */
  private static final int SLACK = 1 << 20;

  private final byte[] content = new byte[LENGTH];
  private LocalServer server;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    new Random(9).nextBytes(content);
    server = new LocalServer("256m");
    client = connect("30s");
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private TakoClient connect(String timeout) throws IOException {
    return server.connect(
        "tcp",
        "fs.tako.client.memory.max",
        Integer.toString(MAX),
        "fs.tako.client.timeout",
        timeout);
  }

  @Test
  void shouldWriteAndReadManyFilesAtOnceWithLittleMemory() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(12);
    try {
      List<Future<?>> jobs = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        String path = "/file-" + i;
        jobs.add(
            threads.submit(
                () -> {
                  writeAndRead(path);
                  return null;
                }));
      }
      for (Future<?> job : jobs) {
        job.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(client.bufferBytesPeak()).isBetween(1L, (long) MAX + SLACK);
  }

  private void writeAndRead(String path) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int from = 0; from < LENGTH; from += 300_000) {
        out.write(content, from, 300_000);
      }
    }
    OpenOptions sequential = OpenOptions.DEFAULT.withPattern(ReadPattern.SEQUENTIAL);
    try (TakoInputStream in = client.open(path, sequential)) {
      byte[] all = new byte[LENGTH];
      for (int from = 0; from < LENGTH; from += 300_000) {
        assertThat(in.readNBytes(all, from, 300_000)).isEqualTo(300_000);
      }
      assertThat(Arrays.equals(all, content)).isTrue();
      ByteBuffer first = ByteBuffer.allocate(1_500_000);
      ByteBuffer second = ByteBuffer.allocate(1_500_000);
      in.read(List.of(new ReadRange(0, first), new ReadRange(1_500_000, second)));
      assertThat(first.flip()).isEqualTo(ByteBuffer.wrap(content, 0, 1_500_000));
      assertThat(second.flip()).isEqualTo(ByteBuffer.wrap(content, 1_500_000, 1_500_000));
    }
  }

  /**
   * Bytes that are not flushed have to be kept; when they use all the memory, the next writer is
   * told so.
   */
  @Test
  void shouldRefuseWhenAllMemoryIsUsedByOpenFiles() throws Exception {
    client.close();
    client = connect("2s");
    List<TakoOutputStream> writers = new ArrayList<>();
    Throwable failure = null;
    while (failure == null) {
      TakoOutputStream out = client.create("/open-" + writers.size(), CreateOptions.DEFAULT);
      failure = catchThrowable(() -> out.write(content, 0, 50_000));
      if (failure == null) {
        writers.add(out);
      }
    }
    assertThat(failure)
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("fs.tako.client.memory.max");
    assertThat(((TakoException) failure).status()).isEqualTo(Status.NO_SPACE);
    assertThat(writers).hasSizeGreaterThan(20);
    for (TakoOutputStream out : writers) {
      out.hflush(); // and it needs no memory any more
    }
    try (TakoOutputStream out = client.create("/one-more", CreateOptions.DEFAULT)) {
      out.write(content);
    }
    assertThat(Arrays.equals(Clients.read(client, "/one-more"), content)).isTrue();
    for (TakoOutputStream out : writers) {
      out.close();
    }
    for (int i = 0; i < writers.size(); i++) {
      assertThat(Clients.read(client, "/open-" + i)).isEqualTo(Arrays.copyOf(content, 50_000));
    }
  }
}
