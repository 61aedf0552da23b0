package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.client.internal.zone.Staging;
import io.takofs.client.internal.zone.Transfer;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.memory.StableBytes;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Gathers bytes in registered buffers and transfers them, several buffers at a time. A buffer is
 * kept until its bytes are placed; when the connection breaks before, they are sent again over the
 * next, which may be another transport's with memory of its own.
 */
final class RemoteSink implements ExtentSink {
  /** Checksum entries may lag behind the bytes of their buffer by this many. */
  private static final int ENTRIES_SLACK = 32;

  private final ZoneAccess access;
  private final int bufferSize;
  private final int buffersMax;
  private final ArrayDeque<Chunk> posted = new ArrayDeque<>();
  private final ArrayDeque<Chunk> idle = new ArrayDeque<>();
  private Chunk current;
  private int buffers;
  private boolean lost;

  /** Checksums of granules that were put into one buffer. */
  private final int[] found = new int[Granules.BATCH];

  /** Something was written that processors of the server may not see yet. */
  private boolean hasUnflushedWrites;

  /** Buffer and source of the flushing read; allocated on first use. */
  private MemoryRegion flushWord;

  private Staging flushWordHome;
  private Transfer flushRead;

  /** Nothing was written after that read was posted. */
  private boolean flushReadIsLast;

  /**
   * A sink.
   *
   * @param bufferSize bytes of a buffer
   * @param buffersMax buffers under way at most
   */
  RemoteSink(ZoneAccess access, int bufferSize, int buffersMax) {
    this.access = access;
    this.bufferSize = bufferSize;
    this.buffersMax = buffersMax;
  }

  /** A buffer: contiguous bytes of one extent, and checksum entries that belong near them. */
  private final class Chunk {
    private final int size;
    private Staging home;
    private MemoryRegion region;
    private ByteBuffer memory;
    Place place;
    int start;
    int fill;
    int firstEntry;
    int entries;
    Transfer transfer;

    /** One of {@code size} bytes, in {@code region} of {@code home}. */
    Chunk(Staging home, MemoryRegion region, int size) {
      this.home = home;
      this.region = region;
      this.memory = region.buffer();
      this.size = size;
    }

    /** Goes on in memory of another transport. */
    private void move(Staging target) throws TakoException {
      MemoryRegion moved = target.exchange(chunkSize(size));
      moved.buffer().put(0, memory, 0, chunkSize(size));
      release();
      home = target;
      region = moved;
      memory = moved.buffer();
    }

    /** Gives the memory back once nothing transfers it. */
    void release() {
      RemoteZone.releaseAfter(transfer, home, region);
      transfer = null;
    }

    Chunk begin(Place target, int offset) {
      place = target;
      start = offset;
      fill = 0;
      entries = 0;
      transfer = null; // the one of its former use is over: nothing of this was sent
      return this;
    }

    boolean continues(Place target, int offset) {
      return place.equals(target) && start + fill == offset && fill < size;
    }

    void put(ByteBuffer source) {
      int count = Math.min(source.remaining(), size - fill);
      memory.put(fill, source, source.position(), count);
      source.position(source.position() + count);
      fill += count;
    }

    int room() {
      return size - fill;
    }

    /** Puts so many granules, and tells their checksums. */
    void putGranules(ByteBuffer source, int count, int[] crcs) {
      int length = count * Layout.GRANULE_SIZE;
      Granules.copy(memory, fill, source, source.position(), count, crcs);
      source.position(source.position() + length);
      fill += length;
    }

    void putEntry(int granule, int crc32c) {
      if (entries == 0) {
        firstEntry = granule;
      }
      memory.putInt(size + entries * Integer.BYTES, crc32c);
      entries++;
    }

    private int entryOffset() {
      return place.checksumsOffset() + firstEntry * Integer.BYTES;
    }

    String failure() {
      return transfer == null ? "nothing was sent" : transfer.failure();
    }

    void post() throws TakoException {
      RemoteZone zone = access.remote();
      if (zone.staging() != home) {
        move(zone.staging());
      }
      hasUnflushedWrites |= zone.keysOfExtents();
      flushReadIsLast = false;
      WriteKeys.Keys keys = access.writable(zone, place);
      if (keys == null) {
        transfer = null; // the connection has ended meanwhile
        return;
      }
      RemoteZone.Piece bytes =
          new RemoteZone.Piece(
              region, 0, fill, place.arena(), place.offset() + start, keys.bytes());
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
                  size,
                  entries * Integer.BYTES,
                  place.arena(),
                  entryOffset(),
                  keys.checksums()));
    }
  }

  @Override
  public boolean isPrepared() {
    return buffers > 0;
  }

  @Override
  public void tryPrepare() throws TakoException {
    if (buffers > 0) {
      return;
    }
    Staging home = access.remote().staging();
    int size = bufferSize;
    MemoryRegion region = home.tryTake(chunkSize(size));
    if (region == null) {
      size = Layout.UNIT_SIZE;
      region = home.tryTakeNeeded(chunkSize(size));
    }
    if (region != null) {
      buffers++;
      idle.push(new Chunk(home, region, size));
    }
  }

  @Override
  public void awaitMemory(int sinks, long deadlineNs) throws TakoException {
    access.remote().awaitMemory((long) sinks * chunkSize(Layout.UNIT_SIZE), deadlineNs);
  }

  @Override
  public void write(Place place, int offset, ByteBuffer source) throws TakoException {
    int from = offset - source.position();
    while (source.hasRemaining()) {
      if (current == null || !current.continues(place, from + source.position())) {
        post();
        current = takeChunk().begin(place, from + source.position());
      }
      current.put(source);
    }
  }

  /** The checksums are those of the copy in the buffer, which nobody else can change. */
  @Override
  public void writeGranules(Place place, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    for (int done = 0; done < count; ) {
      int at = offset + done * Layout.GRANULE_SIZE;
      if (current == null || !current.continues(place, at)) {
        post();
        current = takeChunk().begin(place, at);
      }
      int granules = Math.min(count - done, current.room() / Layout.GRANULE_SIZE);
      if (granules == 0) { // a granule that goes on in the next buffer
        try (StableBytes stable = StableBytes.of(source, Layout.GRANULE_SIZE)) {
          Granules.checksums(stable.bytes(), 0, 1, found);
          write(place, at, stable.bytes());
        }
        source.position(source.position() + Layout.GRANULE_SIZE);
        granules = 1;
      } else {
        current.putGranules(source, granules, found);
      }
      System.arraycopy(found, 0, crcs, done, granules);
      done += granules;
    }
  }

  @Override
  public boolean copiesFirst() {
    return true;
  }

  @Override
  public void writeChecksums(Place place, int granule, int[] crcs, int count) {
    for (int i = 0; i < count; i++) {
      current.putEntry(granule + i, crcs[i]);
    }
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
    RemoteZone zone = access.remote();
    MemoryRegion region = zone.staging().tryTake(chunkSize(bufferSize));
    int size = bufferSize;
    if (region == null && !posted.isEmpty()) {
      awaitOldest(); // slower, with what is here
      return idle.pop();
    }
    if (region == null) {
      size = Layout.UNIT_SIZE;
      region = zone.takeNeeded(chunkSize(size), access.deadline());
    }
    buffers++;
    return new Chunk(zone.staging(), region, size);
  }

  private static int chunkSize(int size) {
    return size + (size / Layout.GRANULE_SIZE + ENTRIES_SLACK) * Integer.BYTES;
  }

  /** A writer that has nothing to send may be idle for long. */
  private void releaseIdle() {
    buffers -= idle.size();
    idle.forEach(Chunk::release);
    idle.clear();
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
  public void startFlush() throws TakoException {
    post();
    if (hasUnflushedWrites && !flushReadIsLast) {
      postFlushRead();
    }
  }

  @Override
  public void flush() throws TakoException {
    startFlush();
    while (!posted.isEmpty()) {
      awaitOldest();
    }
    awaitFlushRead();
    releaseIdle();
  }

  /**
   * A device may say that a write is done before processors of its host see the bytes. They do see
   * the bytes once a later read through the same pair has completed. Writes through an earlier pair
   * are visible as soon as there is another pair: the server has taken the earlier one from its
   * device first, and heard that it was done.
   */
  private void postFlushRead() throws TakoException {
    RemoteZone zone = access.remote();
    if (flushWord == null || flushWordHome != zone.staging()) {
      releaseFlushWord();
      flushWordHome = zone.staging();
      flushWord = flushWordHome.exchange(Long.BYTES);
    }
    RemoteZone.Piece first = new RemoteZone.Piece(flushWord, 0, Long.BYTES, 0, 0, 0);
    flushRead = zone.read(access.deadline(), first);
    flushReadIsLast = true;
  }

  private void awaitFlushRead() throws TakoException {
    long deadline = access.deadline();
    while (hasUnflushedWrites) {
      if (!flushReadIsLast) {
        postFlushRead(); // something was sent again meanwhile
      }
      if (flushRead.await(deadline)) {
        hasUnflushedWrites = false;
      } else {
        access.pause(deadline, flushRead.failure());
        flushReadIsLast = false;
      }
    }
  }

  private void releaseFlushWord() {
    if (flushWord != null) {
      RemoteZone.releaseAfter(flushRead, flushWordHome, flushWord);
      flushWord = null;
    }
  }

  @Override
  public boolean placesAtOnce() {
    return false;
  }

  @Override
  public void showUnplaced(KeptBytes kept) {
    posted.forEach(chunk -> kept.add(chunk.place, chunk.start, chunk.memory.slice(0, chunk.fill)));
    if (current != null) {
      kept.add(current.place, current.start, current.memory.slice(0, current.fill));
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
    releaseIdle();
    releaseFlushWord();
    posted.forEach(Chunk::release);
    posted.clear(); // closing again must not release them again
  }
}
