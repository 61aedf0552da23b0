package io.takofs.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.OpenSnapshot;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.Store;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A checkpoint is read over real transports; the log says how fast. */
class SnapshotTransportsTest {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotTransportsTest.class);
  private static final int PAGES = 8192;
  private static final int RECORDS = 100_000;
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  @TempDir private Path directory;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private <T extends AutoCloseable> T keep(T resource) {
    opened.push(resource);
    return resource;
  }

  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  private static Transport transport(String name) throws IOException {
    return name.equals("tcp") ? new TcpTransport(TcpSettings.DEFAULT) : ShmTransport.create();
  }

  private MappedMemory zone(String name) throws IOException {
    return keep(MappedMemory.create(directory.resolve(name), (long) PAGES * Layout.PAGE_SIZE));
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(12).putInt(number * 0x9E3779B1).putLong(number).array();
  }

  /** Whoever connects reads from {@code config}'s domain. */
  private record Admitting(QueuePairConfig config) implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) {
      return new Accept(config, new byte[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void shouldReadTheCheckpointOfAStoreOfManyRecords(String name) throws Exception {
    MappedMemory sourceZone = zone("source");
    MappedMemory targetZone = zone("target");
    PagedStore.format(sourceZone);
    PagedStore store = PagedStore.open(sourceZone);
    Random random = new Random(1);
    byte[] value = new byte[150];
    for (int i = 0; i < RECORDS; i++) {
      random.nextBytes(value);
      store.shard(i % Store.SHARDS).put(key(i), value);
    }
    store.checkpoint(RECORDS);

    Transport serving = keep(transport(name));
    ProtectionDomain served = keep(serving.allocateProtectionDomain());
    CompletionQueue none = keep(serving.createCompletionQueue(16));
    int bytes = Math.toIntExact(sourceZone.length());
    MemoryRegion pages = keep(served.register(sourceZone, 0, bytes, Access.REMOTE_READ));
    Transport.Listener listener =
        keep(
            serving.listen(
                name.equals("tcp") ? "127.0.0.1:0" : "",
                new Admitting(new QueuePairConfig(served, none, none, 1, 1))));
    SnapshotSource source = new SnapshotSource(1, 1, Clock.SYSTEM, over -> List.of(pages));
    source.use(store);

    Transport calling = keep(transport(name));
    ProtectionDomain domain = keep(calling.allocateProtectionDomain());
    CompletionQueue queue = keep(calling.createCompletionQueue(128));
    MemoryRegion target = keep(domain.register(targetZone, 0, bytes, Access.LOCAL));
    QueuePair pair =
        calling.connect(
            listener.endpoint(),
            new QueuePairConfig(domain, queue, queue, 64, 1),
            new byte[0],
            TIMEOUT_NS);
    long begin = System.nanoTime();
    SnapshotReader reader =
        keep(
            new SnapshotReader(
                OpenSnapshot.newBuilder().setGroup(1).setServer(2).setTransport(name).build(),
                (request, answer) -> answer.accept(source.handle(request)),
                pair,
                targetZone,
                List.of(target),
                Clock.SYSTEM));
    reader.tick();
    while (!reader.isRead()) {
      assertThat(reader.failure()).isNull();
      assertThat(System.nanoTime() - begin).as("still reading").isLessThan(TIMEOUT_NS);
      queue.await(TimeUnit.MILLISECONDS.toNanos(5));
      queue.poll(reader::onCompletion, 64);
      reader.tick();
      if (reader.isListed()) {
        reader.begin();
      }
    }
    long read = System.nanoTime();
    PagedStore taken = reader.finish();
    long finished = System.nanoTime();
    double mebibytes = reader.pagesTotal() * (double) Layout.PAGE_SIZE / (1 << 20);
    LOG.info(
        "{}: {} MiB of pages, read at {} MiB/s, with verification {} MiB/s",
        name,
        Math.round(mebibytes),
        Math.round(mebibytes * 1e9 / (read - begin)),
        Math.round(mebibytes * 1e9 / (finished - begin)));

    assertThat(taken.checkpointIndex()).isEqualTo(RECORDS);
    assertThat(taken.pagesUsed()).isEqualTo(store.pagesUsed());
    for (int i = 0; i < RECORDS; i++) {
      byte[] expected = store.shard(i % Store.SHARDS).get(key(i));
      assertThat(expected).isNotNull();
      if (!Arrays.equals(taken.shard(i % Store.SHARDS).get(key(i)), expected)) {
        throw new AssertionError("record " + i + " differs");
      }
    }
    assertThat(source.held()).isZero();
  }
}
