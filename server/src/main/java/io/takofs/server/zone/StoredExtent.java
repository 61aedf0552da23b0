package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The place of an extent and its checksum entries in an arena. */
record StoredExtent(MappedMemory arena, int offset, int length) {
  ByteBuffer data() {
    return arena.slice(offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  ByteBuffer checksums() {
    return arena.slice(checksumsOffset(), checksumsLength()).order(ByteOrder.LITTLE_ENDIAN);
  }

  private int checksumsOffset() {
    return offset / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  private int checksumsLength() {
    return length / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  void persist() throws IOException {
    if (arena.isDurable()) {
      arena.persist(offset, length);
      if (checksumsLength() > 0) {
        arena.persist(checksumsOffset(), checksumsLength());
      }
    }
  }
}
