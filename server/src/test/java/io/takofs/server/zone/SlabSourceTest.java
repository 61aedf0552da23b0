package io.takofs.server.zone;

import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Extents are pulled over the transports. */
class SlabSourceTest extends SlabCopyRig {
  /** Accepts data connections to a zone. */
  private final class Serving implements ConnectionAcceptor {
    private final ArenaExport export;
    private final CompletionQueue completions;
    final List<QueuePair> pairs = new CopyOnWriteArrayList<>();

    Serving(Transport transport, ServerDataZone served) throws IOException {
      export = keep(served.exportTo(transport)).take();
      completions = keep(transport.createCompletionQueue(64));
      keep(() -> pairs.forEach(QueuePair::close));
    }

    @Override
    public Accept onConnect(String remoteName, byte[] privateData) {
      return new Accept(
          new QueuePairConfig(export.domain(), completions, completions, 1, 1), new byte[0]);
    }

    @Override
    public void onConnected(QueuePair pair, Accept accept) {
      pairs.add(pair);
    }
  }

  private Serving serve(String name, int server, MappedMemory arena) throws Exception {
    Transport serving = keep(transport(name));
    Transport calling = keep(transport(name));
    ServerDataZone source =
        new ServerDataZone(
            List.of(arena),
            HeapSlabs.table(List.of(ARENA)),
            ReaderHolds.NONE,
            Runnable::run,
            () -> false);
    Serving acceptor = new Serving(serving, source);
    Transport.Listener listener =
        keep(serving.listen(name.equals("tcp") ? "127.0.0.1:0" : "", acceptor));
    servers.put(
        server,
        id ->
            new RemoteSlabSource(
                calling,
                listener.endpoint(),
                new byte[0],
                () -> acceptor.export.describe(0, 1).getArenasList(),
                Clock.SYSTEM));
    return acceptor;
  }

  private static Transport transport(String name) throws IOException {
    return name.equals("tcp") ? new TcpTransport(TcpSettings.DEFAULT) : ShmTransport.create();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void shouldPullWhatAnotherServerHas(String transport) throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = manyExtents(source);
    serve(transport, 2, source);
    keep(new SlabCopyThread(copy));
    await(() -> ask(request(extents, 2)).getDoneCount() == extents.size());
    assertCopied(source, extents);
    assertThat(connects).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void shouldTakeTheNextSourceWhenOneGoes(String transport) throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = manyExtents(source);
    Serving first = serve(transport, 2, source);
    MappedMemory same = arena(3);
    for (long at = 0; at < ARENA; at += Layout.SLAB_SIZE) {
      same.slice(at, Layout.SLAB_SIZE).put(source.slice(at, Layout.SLAB_SIZE));
    }
    local(3, same);
    ask(request(extents, 2, 3));
    copy.step();
    first.pairs.forEach(QueuePair::close);
    servers.remove(2);
    steps();
    CopyProgress progress = ask(request(extents, 2, 3));
    assertThat(progress.getDoneCount()).isEqualTo(extents.size());
    assertThat(progress.getFailedList()).isNotEmpty();
    assertThat(progress.getFailedList()).extracting(CopyFailure::getSource).containsOnly(2);
    assertCopied(source, extents);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void shouldReadInAnyOrderWhateverItWasToldOf(String transport) throws Exception {
    MappedMemory arena = arena(2);
    List<Extent> extents = manyExtents(arena);
    serve(transport, 2, arena);
    SlabSource source = keep(servers.get(2).open(2));
    for (int first = 0; first < extents.size(); first++) {
      for (int i = 0; i < extents.size(); i++) {
        Extent told = extents.get((first + i) % extents.size());
        source.prefetch(0, Layout.SLAB_SIZE + told.getOffset(), told.getLength());
      }
      for (int i = extents.size() - 1; i >= first; i--) {
        Extent extent = extents.get(i);
        SlabSource.Bytes read =
            source.read(0, Layout.SLAB_SIZE + extent.getOffset(), extent.getLength());
        assertThat(bytes(read.data())).isEqualTo(WrittenExtents.bytes(arena, 1, extent));
        assertThat(bytes(read.checksums())).isEqualTo(WrittenExtents.entries(arena, 1, extent));
      }
    }
  }

  /** What it was told of may be other bytes when it is read at last, for another copy. */
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void shouldReadAnewWhatNobodyWantedAnyMore(String transport) throws Exception {
    MappedMemory arena = arena(2);
    List<Extent> extents = manyExtents(arena);
    Extent extent = extents.get(0);
    int at = Layout.SLAB_SIZE + extent.getOffset();
    Extent other = extents.get(1);
    serve(transport, 2, arena);
    SlabSource source = keep(servers.get(2).open(2));
    for (int i = 0; i < 4 * RemoteSlabSource.PIECES; i++) {
      source.prefetch(0, at, extent.getLength());
      if (i % 2 == 0) {
        source.read(0, Layout.SLAB_SIZE + other.getOffset(), other.getLength());
      } else {
        source.forget();
      }
      flip(arena, at);
      assertThat(bytes(source.read(0, at, extent.getLength()).data()))
          .isEqualTo(WrittenExtents.bytes(arena, 1, extent));
    }
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}
