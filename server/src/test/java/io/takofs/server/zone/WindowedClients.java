package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.rpc.ConnectionInfo;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;

/** Clients that write to one arena through windows of a device that is none. */
final class WindowedClients implements AutoCloseable {
  final FakeDevice device = new FakeDevice();
  final WriteWindows windows = new WriteWindows();
  final ArenaExport export;
  private final MappedMemory arena = MappedMemory.anonymous(2 << 20, false);

  WindowedClients() throws IOException {
    export = new ArenaExport(device, List.of(arena));
  }

  /**
   * A client's connection.
   *
   * @param onRing sees what was posted, whenever the doorbell rings
   */
  FakeDevice.Pair connect(long clientId, Consumer<Queue<Long>> onRing) throws IOException {
    FakeDevice.Pair pair = FakeDevice.newPair(onRing);
    ConnectionInfo client = ConnectionInfo.ours(Layout.CONNECTION_DATA, clientId, 0, 64, 64);
    WindowPosts posts = new WindowPosts(pair.pair(), export, client);
    windows.connected(clientId, new WindowedConnection(pair.pair(), posts));
    return pair;
  }

  @Override
  public void close() {
    export.close();
    arena.close();
  }
}
