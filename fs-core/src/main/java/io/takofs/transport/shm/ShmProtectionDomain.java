package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.staging.MappedRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Regions in a directory of their own: peers of its queue pairs learn that directory, so a key of
 * another domain leads them nowhere. A region is a file there, or a link to the file it is part of,
 * named after its remote key.
 */
final class ShmProtectionDomain implements ProtectionDomain {
  private static final Logger LOG = LoggerFactory.getLogger(ShmProtectionDomain.class);

  private final ShmTransport transport;
  private final Path directory;
  private final TransportCounters counters;
  private final ExportTable table;
  private final AtomicInteger lastLkey = new AtomicInteger();
  private final Set<ShmMemoryRegion> regions = ConcurrentHashMap.newKeySet();

  ShmProtectionDomain(ShmTransport transport, Path directory) throws IOException {
    this.transport = transport;
    this.directory = directory;
    this.counters = transport.counters();
    this.table = new ExportTable(directory);
  }

  /** Directory with the table of keys and the files of the regions, for peers. */
  Path directory() {
    return directory;
  }

  @Override
  public MemoryRegion allocate(int length, Access access) throws IOException {
    long size = MappedRange.pages(length);
    if (access == Access.LOCAL) {
      MappedMemory memory = MappedMemory.anonymous(size, true);
      return addLocal(MappedRange.owned(memory, length));
    }
    try (Undo undo = new Undo()) {
      int rkey = reserve(undo);
      MappedMemory memory = undo.add(MappedMemory.create(file(rkey), size));
      ShmMemoryRegion region = export(MappedRange.owned(memory, length), access, rkey);
      undo.keep();
      return region;
    }
  }

  @Override
  public MemoryRegion register(MappedMemory memory, long offset, int length, Access access)
      throws IOException {
    MappedRange range = MappedRange.within(memory, offset, length);
    if (access == Access.LOCAL) {
      return addLocal(range);
    }
    try (Undo undo = new Undo()) {
      int rkey = reserve(undo);
      Attachment.prepare(directory);
      Files.createSymbolicLink(file(rkey), memory.path().toAbsolutePath());
      ShmMemoryRegion region = export(range, access, rkey);
      undo.keep();
      return region;
    }
  }

  private int reserve(Undo undo) throws TakoException {
    int rkey = table.reserve();
    undo.add(() -> table.withdraw(rkey));
    undo.add(() -> Files.deleteIfExists(file(rkey)));
    return rkey;
  }

  private ShmMemoryRegion addLocal(MappedRange range) {
    ShmMemoryRegion.Export none = new ShmMemoryRegion.Export(0, 0);
    return add(new ShmMemoryRegion(this, range, Access.LOCAL, nextLkey(), none));
  }

  private ShmMemoryRegion export(MappedRange range, Access access, int rkey) {
    long address = ExportTable.address(rkey, range.fileOffset());
    ShmMemoryRegion.Export export = new ShmMemoryRegion.Export(rkey, address);
    ShmMemoryRegion region = new ShmMemoryRegion(this, range, access, nextLkey(), export);
    table.publish(rkey, access, address, range.length(), range.fileOffset());
    return add(region);
  }

  private ShmMemoryRegion add(ShmMemoryRegion region) {
    regions.add(region);
    counters.add(Counter.REGIONS, 1);
    return region;
  }

  private int nextLkey() {
    return lastLkey.incrementAndGet();
  }

  private Path file(int rkey) {
    return directory.resolve(ExportTable.fileName(rkey));
  }

  /** Takes a region that is being closed from the peers. */
  void withdraw(ShmMemoryRegion region) {
    regions.remove(region);
    counters.add(Counter.REGIONS, -1);
    if (region.rkey() == 0) {
      return;
    }
    try {
      Files.deleteIfExists(file(region.rkey()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove the file of a region", e);
    } finally {
      table.withdraw(region.rkey());
    }
  }

  @Override
  public void close() {
    regions.forEach(ShmMemoryRegion::close);
    try {
      removeFiles();
    } catch (IOException e) {
      LOG.warn("cannot remove {}: {}", directory, e.toString());
    }
    transport.forget(this);
  }

  /** Nobody can be attached; what peers may be attached to goes with the transport. */
  private void removeFiles() throws IOException {
    if (!Attachment.isPrepared(directory)) {
      Files.deleteIfExists(directory.resolve(ExportTable.FILE_NAME));
      Files.deleteIfExists(directory);
    }
  }
}
