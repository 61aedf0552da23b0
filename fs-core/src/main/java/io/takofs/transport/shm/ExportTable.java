package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.BitSet;

/**
 * The keys of one protection domain's regions, in a file that peers map read-only: an entry whose
 * key is gone ends the region for all of them at once.
 *
 * <p>Thread rule: any thread.
 */
final class ExportTable {
  /** Name of the table within the domain's directory. */
  static final String FILE_NAME = "exports";

  static final int SIZE = Layout.SHM_EXPORTS * Layout.SHM_EXPORT_SIZE;

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final SecureRandom random = new SecureRandom();
  private final BitSet used = new BitSet();
  private final ByteBuffer entries;

  ExportTable(Path directory) throws IOException {
    this.entries = MappedMemory.create(directory.resolve(FILE_NAME), SIZE).slice(0, SIZE);
  }

  /** One entry as a peer may see it; every field is read once. */
  record Entry(int access, long address, long length, long fileOffset) {
    static Entry read(ByteBuffer table, int rkey) {
      int at = offset(rkey);
      return new Entry(
          table.getInt(at + Layout.SHM_EXPORT_ACCESS_OFFSET),
          table.getLong(at + Layout.SHM_EXPORT_ADDRESS_OFFSET),
          table.getLong(at + Layout.SHM_EXPORT_LENGTH_OFFSET),
          table.getLong(at + Layout.SHM_EXPORT_FILE_OFFSET_OFFSET));
    }
  }

  /** Whether the table names {@code rkey} now. */
  static boolean isExported(ByteBuffer table, int rkey) {
    return rkey != 0
        && (int) INT.getAcquire(table, offset(rkey) + Layout.SHM_EXPORT_RKEY_OFFSET) == rkey;
  }

  private static int offset(int rkey) {
    return (rkey & (Layout.SHM_EXPORTS - 1)) * Layout.SHM_EXPORT_SIZE;
  }

  /** The file name of a region within the domain's directory. */
  static String fileName(int rkey) {
    return String.format("%08x", rkey);
  }

  /** Draws a key that nothing has; {@link #publish} or {@link #withdraw} it. */
  synchronized int reserve() throws TakoException {
    int index = used.nextClearBit(0);
    if (index >= Layout.SHM_EXPORTS) {
      throw new TakoException(
          Status.NO_SPACE,
          "a protection domain holds at most " + Layout.SHM_EXPORTS + " regions: close some");
    }
    used.set(index);
    int rkey;
    do {
      rkey = (random.nextInt() & -Layout.SHM_EXPORTS) | index;
    } while (rkey == index);
    return rkey;
  }

  /** Address by which peers know a region: no region's addresses overlap another's. */
  static long address(int rkey, long fileOffset) {
    return (((rkey & (Layout.SHM_EXPORTS - 1)) + 1L) << 32) | (fileOffset & 4095);
  }

  /** Lets peers use the region from now on. */
  void publish(int rkey, Access access, long address, int length, long fileOffset) {
    int at = offset(rkey);
    entries.putInt(at + Layout.SHM_EXPORT_ACCESS_OFFSET, code(access));
    entries.putLong(at + Layout.SHM_EXPORT_ADDRESS_OFFSET, address);
    entries.putLong(at + Layout.SHM_EXPORT_LENGTH_OFFSET, length);
    entries.putLong(at + Layout.SHM_EXPORT_FILE_OFFSET_OFFSET, fileOffset);
    INT.setRelease(entries, at + Layout.SHM_EXPORT_RKEY_OFFSET, rkey);
  }

  /** The access as {@code shm_export.access} has it. */
  private static int code(Access access) {
    return switch (access) {
      case LOCAL -> 0;
      case REMOTE_READ -> 1;
      case REMOTE_READ_WRITE -> 2;
      case REMOTE_ATOMIC -> 3;
    };
  }

  /** Ends the key. */
  synchronized void withdraw(int rkey) {
    INT.setVolatile(entries, offset(rkey) + Layout.SHM_EXPORT_RKEY_OFFSET, 0);
    used.clear(rkey & (Layout.SHM_EXPORTS - 1));
  }
}
