package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.NativeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything of one peer that is mapped here for one queue pair, and the lock by which the peer can
 * tell: it is held from before the first mapping is made until after the last one is gone.
 *
 * <p>Thread rule: any thread.
 */
final class PeerMemory {
  private static final Logger LOG = LoggerFactory.getLogger(PeerMemory.class);
  private static final int READ = 1;

  private static final int POPULATED = NativeCore.MAP_POPULATE | NativeCore.MAP_HUGE;

  /**
   * Larger files are arenas of file data. A process uses parts of them only and populates those
   * itself.
   */
  private static final long POPULATED_MAX = 16 << 20;

  private final Path domainDirectory;
  private final UserPrincipal owner;
  private final MappedMemory exports;
  private final MappedMemory doorbell;
  private final MappedMemory inbox;
  private final NativeFile inboxFile;
  private final ByteBuffer imports;
  private final Map<Integer, MappedMemory> regions = new HashMap<>(); // by index of the key
  private Optional<Attachment> attachment = Optional.empty();
  private boolean detached;
  private boolean peerIsGone;

  /**
   * Maps what {@code offer} names.
   *
   * @param owner whose files they must be
   * @param imports this queue pair's {@code shm_import} records
   */
  PeerMemory(Offer offer, UserPrincipal owner, ByteBuffer imports) throws IOException {
    this.domainDirectory = Path.of(offer.domainDirectory());
    this.owner = owner;
    this.imports = imports.order(ByteOrder.LITTLE_ENDIAN);
    int write = NativeCore.MAP_POPULATE | NativeCore.MAP_WRITE;
    try (Undo undo = new Undo();
        NativeFile table = open(domainDirectory.resolve(ExportTable.FILE_NAME), 0);
        NativeFile bell = open(Path.of(offer.doorbell()), NativeCore.OPEN_WRITE)) {
      this.exports = undo.add(table.map(0, ExportTable.SIZE, NativeCore.MAP_POPULATE));
      this.doorbell = undo.add(bell.map(0, Layout.SHM_DOORBELL_SIZE, write));
      this.inboxFile = undo.add(open(Path.of(offer.inbox()), NativeCore.OPEN_WRITE));
      this.inbox = inboxFile.map(0, Inbox.size(offer.receives()), write);
      undo.keep();
    }
  }

  private NativeFile open(Path path, int flags) throws IOException {
    return NativeFile.openOwned(path, flags, owner);
  }

  long exportsAddress() {
    return exports.address();
  }

  long doorbellAddress() {
    return doorbell.address();
  }

  long inboxAddress() {
    return inbox.address();
  }

  /** Maps the region of a key, or notes that it cannot be used. */
  synchronized void importRegion(int rkey) {
    int index = rkey & (Layout.SHM_EXPORTS - 1);
    MappedMemory old = regions.remove(index);
    if (old != null) {
      old.close();
    }
    ByteBuffer table = exports.slice(0, ExportTable.SIZE);
    ExportTable.Entry entry = ExportTable.Entry.read(table, rkey);
    MappedMemory memory = detached ? null : tryMap(rkey, entry);
    if (memory != null) {
      regions.put(index, memory);
    }
    int at = index * Layout.SHM_IMPORT_SIZE;
    imports.putInt(at + Layout.SHM_IMPORT_ACCESS_OFFSET, memory == null ? 0 : entry.access());
    imports.putLong(at + Layout.SHM_IMPORT_ADDRESS_OFFSET, entry.address());
    imports.putLong(at + Layout.SHM_IMPORT_LENGTH_OFFSET, memory == null ? 0 : entry.length());
    imports.putLong(at + Layout.SHM_IMPORT_LOCAL_OFFSET, memory == null ? 0 : memory.address());
    imports.putInt(at + Layout.SHM_IMPORT_RKEY_OFFSET, rkey);
  }

  private MappedMemory tryMap(int rkey, ExportTable.Entry entry) {
    if (entry.length() <= 0 || entry.length() > Layout.ARENA_SIZE || entry.fileOffset() < 0) {
      return null;
    }
    Path path = domainDirectory.resolve(ExportTable.fileName(rkey));
    try {
      if (attachment.isEmpty()) {
        attachment = Attachment.to(domainDirectory, owner);
      }
      return map(path, entry);
    } catch (IOException e) {
      LOG.warn("cannot use the peer's region {}: {}", path, e.getMessage());
      return null;
    }
  }

  private MappedMemory map(Path path, ExportTable.Entry entry) throws IOException {
    boolean write = entry.access() > READ;
    try (NativeFile file = open(path, write ? NativeCore.OPEN_WRITE : 0)) {
      int flags = entry.length() > POPULATED_MAX ? NativeCore.MAP_HUGE : POPULATED;
      return file.map(
          entry.fileOffset(), entry.length(), write ? flags | NativeCore.MAP_WRITE : flags);
    }
  }

  /** A view of the peer's bytes; null if the key, the bounds or the state of the pair forbid it. */
  synchronized ByteBuffer view(long address, int length, int rkey) {
    if (detached || !ExportTable.isExported(exports.slice(0, ExportTable.SIZE), rkey)) {
      return null;
    }
    int index = rkey & (Layout.SHM_EXPORTS - 1);
    int at = index * Layout.SHM_IMPORT_SIZE;
    if (imports.getInt(at + Layout.SHM_IMPORT_RKEY_OFFSET) != rkey) {
      importRegion(rkey);
    }
    MappedMemory memory = regions.get(index);
    long offset = address - imports.getLong(at + Layout.SHM_IMPORT_ADDRESS_OFFSET);
    if (memory == null || length < 0 || offset < 0 || offset > memory.length() - length) {
      return null;
    }
    return memory.slice(offset, length);
  }

  /** Whether the peer still has mappings of this process's memory for this connection. */
  synchronized boolean peerIsAttached() throws TakoException {
    if (peerIsGone) {
      return false;
    }
    peerIsGone = !inboxFile.isLockedByOther();
    if (peerIsGone) {
      inboxFile.close();
    }
    return !peerIsGone;
  }

  /** Gives up everything but the means to tell whether the peer did the same. */
  synchronized void detach() {
    if (detached) {
      return;
    }
    detached = true;
    regions.values().forEach(MappedMemory::close);
    exports.close();
    doorbell.close();
    inbox.close();
    attachment.ifPresent(Attachment::close);
    try {
      peerIsAttached(); // closes the file when nobody needs to ask again
    } catch (TakoException e) {
      LOG.debug("asked in vain: {}", e.getMessage());
    }
  }
}
