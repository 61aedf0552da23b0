package io.takofs.system;

import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Where the units of a content lie in the pools of a cluster's servers, found by their bytes. */
final class StoredUnits {
  private StoredUnits() {}

  /**
   * The place of a unit in one server's data.
   *
   * @param offset in the file of the data zone
   */
  record Place(ServerProcess server, long offset) {
    /** Makes one bit of it wrong. */
    void flipABit() throws IOException {
      try (FileChannel data = open(server)) {
        ByteBuffer one = ByteBuffer.allocate(1);
        data.read(one, offset + 77);
        one.put(0, (byte) (one.get(0) ^ 4)).flip();
        data.write(one, offset + 77);
      }
    }
  }

  /** The places of each unit of {@code content}, in the order of the servers. */
  static List<List<Place>> find(ServerCluster cluster, byte[] content) throws IOException {
    List<List<Place>> units = new ArrayList<>();
    for (int at = 0; at < content.length; at += Layout.UNIT_SIZE) {
      units.add(new ArrayList<>());
    }
    byte[] unit = new byte[Layout.UNIT_SIZE];
    for (ServerProcess server : cluster.servers()) {
      try (FileChannel data = open(server)) {
        for (long at = 0; at + unit.length <= data.size(); at += unit.length) {
          data.read(ByteBuffer.wrap(unit), at);
          int index = indexOf(unit, content);
          if (index >= 0) {
            units.get(index).add(new Place(server, at));
          }
        }
      }
    }
    return units;
  }

  /** Whether each of {@code servers} servers has all units of {@code content}. */
  static boolean areAt(ServerCluster cluster, byte[] content, int servers) throws IOException {
    return find(cluster, content).stream()
        .allMatch(places -> places.stream().map(Place::server).distinct().count() == servers);
  }

  private static int indexOf(byte[] unit, byte[] content) {
    for (int from = 0; from < content.length; from += unit.length) {
      int count = Math.min(unit.length, content.length - from);
      if (Arrays.equals(unit, 0, count, content, from, from + count)) {
        return from / unit.length;
      }
    }
    return -1;
  }

  private static FileChannel open(ServerProcess server) throws IOException {
    return FileChannel.open(
        server.pool().resolve("data"), StandardOpenOption.READ, StandardOpenOption.WRITE);
  }
}
