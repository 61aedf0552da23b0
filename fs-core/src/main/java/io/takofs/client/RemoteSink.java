package io.takofs.client;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Placement;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Gathers bytes in registered buffers and transfers them, several buffers at a time. A buffer is
 * kept until its bytes are placed; when the connection breaks before, they are sent again over the
 * next. A small rest travels with the commit.
 */
final class RemoteSink implements ExtentSink {
  /** Checksum entries may lag behind the bytes of their buffer by this many. */
  private static final int ENTRIES_SLACK = 32;

  /** Bytes that a commit carries at most: with their entries they fit a request's slot. */
  private static final int REST_MAX = 8192;

  private final ZoneAccess access;
  private final Staging staging;
  private final int bufferSize;
  private final int buffersMax;
  private final ArrayDeque<Chunk> posted = new ArrayDeque<>();
  private final ArrayDeque<Chunk> idle = new ArrayDeque<>();
  private Chunk current;
  private int buffers;
  private boolean lost;

  /** Something was written that processors of the server may not see yet. */
  private boolean unseen;

  /** What is read to have them see it; made when it is first wanted. */
  private MemoryRegion word;

  private Transfer read;

  /** Nothing was written after that read was posted. */
  private boolean behind;

  /**
   * A sink.
   *
   * @param bufferSize bytes of a buffer
   * @param buffersMax buffers under way at most
   */
  RemoteSink(ZoneAccess access, Staging staging, int bufferSize, int buffersMax) {
    this.access = access;
    this.staging = staging;
    this.bufferSize = bufferSize;
    this.buffersMax = buffersMax;
  }

  /** A buffer: contiguous bytes of one extent, and checksum entries that belong near them. */
  private final class Chunk {
    final MemoryRegion region;
    final ByteBuffer memory;
    Extent extent;
    int start;
    int fill;
    int firstEntry;
    int entries;
    Transfer transfer;

    Chunk(MemoryRegion region) {
      this.region = region;
      this.memory = region.buffer();
    }

    Chunk begin(Extent target, int offset) {
      extent = target;
      start = offset;
      fill = 0;
      entries = 0;
      return this;
    }

    boolean continues(Extent target, int offset) {
      return extent.getArena() == target.getArena()
          && extent.getOffset() == target.getOffset()
          && start + fill == offset
          && fill < bufferSize;
    }

    void put(ByteBuffer source) {
      int count = Math.min(source.remaining(), bufferSize - fill);
      memory.put(fill, source, source.position(), count);
      source.position(source.position() + count);
      fill += count;
    }

    void putEntry(int granule, int crc32c) {
      if (entries == 0) {
        firstEntry = granule;
      }
      memory.putInt(bufferSize + entries * Integer.BYTES, crc32c);
      entries++;
    }

    List<Placement> placements() {
      Placement bytes =
          Placement.newBuilder()
              .setArena(extent.getArena())
              .setOffset(extent.getOffset() + start)
              .setData(ByteString.copyFrom(memory.slice(0, fill)))
              .build();
      if (entries == 0) {
        return List.of(bytes);
      }
      return List.of(
          bytes,
          Placement.newBuilder()
              .setArena(extent.getArena())
              .setOffset(entryOffset())
              .setData(ByteString.copyFrom(memory.slice(bufferSize, entries * Integer.BYTES)))
              .build());
    }

    private int entryOffset() {
      return (extent.getOffset() / Layout.GRANULE_SIZE + firstEntry) * Integer.BYTES;
    }

    String failure() {
      return transfer == null ? "nothing was sent" : transfer.failure();
    }

    void post() throws TakoException {
      RemoteZone zone = access.remote(staging);
      unseen |= zone.keysOfExtents();
      behind = false;
      Extent keys = access.writable(zone, extent);
      if (keys == null) {
        transfer = null; // the connection has ended meanwhile
        return;
      }
      RemoteZone.Piece bytes =
          new RemoteZone.Piece(
              region, 0, fill, extent.getArena(), extent.getOffset() + start, keys.getRkey());
      if (entries == 0) {
        transfer = zone.write(access.deadline(), bytes);
        return;
      }
      transfer =
          zone.write(
              access.deadline(),
              bytes,
              new RemoteZone.Piece(
                  region,
                  bufferSize,
                  entries * Integer.BYTES,
                  extent.getArena(),
                  entryOffset(),
                  keys.getChecksumsRkey()));
    }
  }

  @Override
  public void write(Extent extent, int offset, ByteBuffer source) throws TakoException {
    int from = offset - source.position();
    while (source.hasRemaining()) {
      if (current == null || !current.continues(extent, from + source.position())) {
        post();
        current = takeChunk().begin(extent, from + source.position());
      }
      current.put(source);
    }
  }

  @Override
  public void writeChecksum(Extent extent, int granule, int crc32c) {
    current.putEntry(granule, crc32c);
  }

  private void post() throws TakoException {
    if (current != null) {
      Chunk full = current;
      current = null;
      posted.add(full);
      full.post();
    }
  }

  private Chunk takeChunk() throws TakoException {
    if (idle.isEmpty() && buffers == buffersMax) {
      awaitOldest();
    }
    if (!idle.isEmpty()) {
      return idle.pop();
    }
    Chunk chunk =
        new Chunk(
            staging.take(
                bufferSize + (bufferSize / Layout.GRANULE_SIZE + ENTRIES_SLACK) * Integer.BYTES));
    buffers++;
    return chunk;
  }

  private void awaitOldest() throws TakoException {
    Chunk oldest = posted.element();
    long deadline = access.deadline();
    while (oldest.transfer == null || !oldest.transfer.await(deadline)) {
      lost = true;
      access.pause(deadline, oldest.failure());
      oldest.post();
    }
    posted.remove();
    idle.push(oldest);
  }

  @Override
  public void flush() throws TakoException {
    if (current != null && current.fill > REST_MAX) {
      post();
    }
    if (unseen) {
      readBehind();
    }
    while (!posted.isEmpty()) {
      awaitOldest();
    }
    awaitSeen();
  }

  /**
   * A device may say that a write is done before processors of its host see the bytes. What a read
   * brings back that comes after it, they see.
   */
  private void readBehind() throws TakoException {
    if (word == null) {
      word = staging.take(Long.BYTES);
    }
    RemoteZone.Piece first = new RemoteZone.Piece(word, 0, Long.BYTES, 0, 0, 0);
    read = access.remote(staging).read(access.deadline(), first);
    behind = true;
  }

  private void awaitSeen() throws TakoException {
    long deadline = access.deadline();
    while (unseen) {
      if (!behind) {
        readBehind(); // something was sent again meanwhile
      }
      if (read.await(deadline)) {
        unseen = false;
      } else {
        access.pause(deadline, read.failure());
        behind = false;
      }
    }
  }

  private void releaseWord() {
    if (word != null) {
      MemoryRegion unused = word;
      word = null;
      if (read == null) {
        staging.release(unused);
      } else {
        read.whenOver(() -> staging.release(unused));
      }
    }
  }

  @Override
  public List<Placement> rest() {
    return current == null ? List.of() : current.placements();
  }

  @Override
  public void restPlaced() {
    if (current != null) {
      idle.push(current);
      current = null;
    }
  }

  @Override
  public boolean allCompleted() {
    return !lost && posted.isEmpty();
  }

  @Override
  public void close() {
    if (current != null) {
      idle.push(current);
      current = null;
    }
    idle.forEach(chunk -> staging.release(chunk.region));
    idle.clear();
    releaseWord();
    for (Chunk chunk : posted) {
      if (chunk.transfer == null) {
        staging.release(chunk.region);
      } else {
        chunk.transfer.whenOver(() -> staging.release(chunk.region));
      }
    }
    posted.clear(); // closing again must not release them again
  }
}
