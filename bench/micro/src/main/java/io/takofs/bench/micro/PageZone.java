package io.takofs.bench.micro;

import io.takofs.memory.MappedMemory;
import io.takofs.server.store.PagedStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** An empty store on memory that is mapped as a server's is, and gone when this is closed. */
final class PageZone implements AutoCloseable {
  private static final Path MEMORY = Path.of("/dev/shm");

  private final MappedMemory zone;
  final PagedStore store;

  PageZone(long bytes) throws IOException {
    Path directory = Files.createTempDirectory(MEMORY, "tako-micro-");
    Path file = directory.resolve("pages");
    try {
      zone = MappedMemory.create(file, bytes);
    } finally {
      // The mapping stays, and nothing else does if this process is killed.
      Files.deleteIfExists(file);
      Files.delete(directory);
    }
    PagedStore.format(zone);
    store = PagedStore.open(zone);
  }

  @Override
  public void close() {
    store.close();
    zone.close();
  }
}
