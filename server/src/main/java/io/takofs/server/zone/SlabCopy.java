package io.takofs.server.zone;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.Stores;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Pulls extents of slabs from other servers: reads them one-sided, verifies the copy, and stores
 * it, with its checksum entries, into a slab that is leased here. What verifies here already is not
 * read again, so that a server that was started again goes on where it was. Without sources the
 * extents that are here are only verified.
 *
 * <p>Nothing is stored once the lease of the slab is over, and the slab is not lent again before a
 * store that was begun is done ({@link SlabTable#beginStore}).
 *
 * <p>Thread rule: {@link #step} by one thread, which waits for sources without any lock; the others
 * by any. A simulation calls {@link #step} itself.
 */
public final class SlabCopy implements AutoCloseable {
  /** Extents that wait at most; what is asked for beyond is to be asked for again. */
  static final int QUEUE_MAX = 4096;

  /** Connections to sources at a time; each has memory of its own. */
  static final int SOURCES_MAX = 8;

  /** Extents that sources are told of before they are read. */
  private static final int AHEAD = RemoteSlabSource.PIECES - 1;

  private static final String NOT_LENT =
      "the slab is not leased under this number, or to a later attempt";

  private final List<MappedMemory> arenas;
  private final SlabTable table;
  private final SlabSources sources;
  private final Clock clock;
  private final ExtentCheck check = new ExtentCheck();
  // By server, the one used last at the end; of the stepping thread.
  private final Map<Integer, SlabSource> open = new LinkedHashMap<>(SOURCES_MAX, 0.75f, true);
  private final Map<Integer, Job> jobs = new HashMap<>(); // by slot; the latest attempt
  private final ArrayDeque<Item> queue = new ArrayDeque<>();
  private volatile Runnable onWork = () -> {};
  private long nextNs; // when the limit lets the next extent be read
  private boolean limited;

  /** One attempt to fill a slab. */
  private static final class Job {
    final int slot;
    final int group;
    final long lease;
    final long attempt;
    final Map<Integer, Item> items = new HashMap<>(); // by offset in the slab
    List<Replica> sources = List.of();
    long bytesPerSecond;

    Job(int slot, int group, CopyExtents request) {
      this.slot = slot;
      this.group = group;
      this.lease = request.getTarget().getLease();
      this.attempt = request.getAttempt();
    }
  }

  /** One extent of an attempt. */
  private static final class Item {
    final Job job;
    final Extent extent;
    final CopyProgress.Builder failures = CopyProgress.newBuilder();
    boolean isDone;
    boolean isOver; // done, or no source had it
    boolean isLookedAt; // before it is copied; of the stepping thread
    String problem; // of the bytes that are here then

    Item(Job job, Extent extent) {
      this.job = job;
      this.extent = extent;
    }

    void fail(int source, boolean wrongBytes, String reason) {
      failures.addFailed(
          CopyFailure.newBuilder()
              .setSource(source)
              .setWrongBytes(wrongBytes)
              .setReason(String.valueOf(reason)));
    }
  }

  /**
   * @param arenas that {@code table} is of
   */
  SlabCopy(List<MappedMemory> arenas, SlabTable table, SlabSources sources, Clock clock) {
    this.arenas = arenas;
    this.table = table;
    this.sources = sources;
    this.clock = clock;
  }

  /** Runs {@code listener} when {@link #step} should be called. */
  public void onWork(Runnable listener) {
    onWork = listener;
  }

  /**
   * Tells how far the extents of {@code request} have come; begins with those that are new. A
   * failure is told once, and the extent is tried again when it is asked for again.
   *
   * @param slot of the target, which has room for the extents
   */
  CopyProgress ask(int slot, int group, CopyExtents request) {
    CopyProgress.Builder progress = CopyProgress.newBuilder();
    boolean isNews;
    synchronized (this) {
      Job job = job(slot, group, request);
      for (int i = 0; i < request.getExtentsCount(); i++) {
        if (job == null) {
          progress.addFailed(CopyFailure.newBuilder().setIndex(i).setReason(NOT_LENT));
        } else {
          ask(job, i, request.getExtents(i), progress);
        }
      }
      isNews = !queue.isEmpty();
    }
    if (isNews) {
      onWork.run();
    }
    return progress.build();
  }

  /** The job of the request; null when it is over. */
  private Job job(int slot, int group, CopyExtents request) {
    jobs.values().removeIf(job -> !table.isHeld(job.slot, job.group, job.lease));
    if (!table.isHeld(slot, group, request.getTarget().getLease())) {
      return null;
    }
    Job job = jobs.get(slot);
    if (job != null && job.attempt > request.getAttempt()) {
      return null;
    }
    if (job == null || job.attempt < request.getAttempt()) {
      job = new Job(slot, group, request);
      jobs.put(slot, job);
    }
    if (request.getSourcesCount() == 0 && !job.sources.isEmpty()) {
      job.items.clear(); // what was copied is verified anew
    }
    job.sources = request.getSourcesList();
    job.bytesPerSecond = request.getBytesPerSecond();
    return job;
  }

  private void ask(Job job, int index, Extent extent, CopyProgress.Builder progress) {
    Item item = job.items.get(extent.getOffset());
    if (item == null || !item.extent.equals(extent)) {
      if (queue.size() < QUEUE_MAX) {
        item = new Item(job, extent);
        job.items.put(extent.getOffset(), item);
        queue.add(item);
      }
      return;
    }
    for (CopyFailure failure : item.failures.getFailedList()) {
      progress.addFailed(failure.toBuilder().setIndex(index));
    }
    item.failures.clear();
    if (item.isDone) {
      progress.addDone(index);
    }
    if (item.isOver && (!item.isDone || job.sources.isEmpty())) {
      job.items.remove(extent.getOffset());
    }
  }

  /** Extents that wait. */
  synchronized int queued() {
    return queue.size();
  }

  /**
   * Copies the next extent, if there is one and the limit lets it.
   *
   * @return nanoseconds until the next call is wanted; Long.MAX_VALUE when nothing waits
   */
  public long step() {
    Item item;
    synchronized (this) {
      while (!queue.isEmpty() && !isWanted(queue.peek())) {
        queue.remove();
      }
      if (queue.isEmpty()) {
        item = null;
      } else {
        long leftNs = limited ? nextNs - clock.nanoTime() : 0;
        if (leftNs > 0) {
          return leftNs;
        }
        item = queue.remove();
      }
    }
    if (item == null) {
      closeSources();
      return Long.MAX_VALUE;
    }
    boolean isOver = false;
    try {
      boolean isDone = copy(item);
      synchronized (this) {
        item.isDone = isDone;
        item.isOver = true;
      }
      isOver = true;
    } finally {
      if (!isOver) {
        synchronized (this) {
          item.fail(0, false, "the copy ended with an error that the server's log has");
          item.isOver = true; // so that it is tried again
        }
      }
    }
    return 0;
  }

  private boolean isWanted(Item item) {
    return jobs.get(item.job.slot) == item.job
        && item.job.items.get(item.extent.getOffset()) == item;
  }

  private boolean copy(Item item) {
    try {
      List<Replica> from;
      synchronized (this) {
        from = item.job.sources;
      }
      String problem = item.isLookedAt && !from.isEmpty() ? item.problem : problem(item);
      if (from.isEmpty()) {
        pay(item);
      }
      if (problem == null) {
        return true;
      }
      if (from.isEmpty()) {
        fail(item, 0, !problem.equals(NOT_LENT), problem);
        return false;
      }
      prefetch(item, from.get(0));
      for (Replica source : from) {
        if (!table.isHeld(item.job.slot, item.job.group, item.job.lease)) {
          break;
        }
        if (copy(item, source)) {
          return true;
        }
      }
      fail(item, 0, false, "no source had the bytes");
    } catch (IOException e) {
      fail(item, 0, false, "the copy cannot be made persistent: " + e.getMessage());
    }
    return false;
  }

  private synchronized void fail(Item item, int source, boolean wrongBytes, String reason) {
    item.fail(source, wrongBytes, reason);
  }

  /** What is wrong with the bytes that are here; null when nothing is: they are persistent then. */
  private String problem(Item item) throws IOException {
    Job job = item.job;
    if (!table.beginStore(job.slot, job.group, job.lease)) {
      return NOT_LENT;
    }
    try {
      Place place = place(item);
      String problem = check.problem(item.extent, place.data(), place.checksums());
      if (problem == null) {
        place.persist();
      }
      return problem;
    } finally {
      table.endStore(job.slot);
    }
  }

  /** Has the next extents begun with, too, so that they come while this one is stored. */
  private void prefetch(Item item, Replica from) throws IOException {
    SlabSource source = open.get(from.getServer());
    if (source == null) {
      return; // the first read connects
    }
    source.prefetch(from.getArena(), place(item.extent, from), item.extent.getLength());
    for (Item next : next(from)) {
      if (!next.isLookedAt) {
        next.problem = problem(next);
        next.isLookedAt = true;
      }
      Replica first = first(next);
      if (next.problem != null && first != null && first.getServer() == from.getServer()) {
        source.prefetch(first.getArena(), place(next.extent, first), next.extent.getLength());
      }
    }
  }

  private static int place(Extent extent, Replica from) {
    return from.getIndex() * Layout.SLAB_SIZE + extent.getOffset();
  }

  /** The extents that are read next from the server of {@code from}; none while a limit holds. */
  private synchronized List<Item> next(Replica from) {
    return queue.stream()
        .limit(AHEAD)
        .filter(this::isWanted)
        .filter(item -> item.job.bytesPerSecond == 0)
        .filter(item -> first(item) != null && first(item).getServer() == from.getServer())
        .toList();
  }

  /** The replica that is tried first; null when there is none. */
  private synchronized Replica first(Item item) {
    return item.job.sources.isEmpty() ? null : item.job.sources.get(0);
  }

  private boolean copy(Item item, Replica from) throws IOException {
    Extent extent = item.extent;
    SlabSource.Bytes bytes;
    try {
      bytes =
          source(from.getServer()).read(from.getArena(), place(extent, from), extent.getLength());
    } catch (TakoException e) {
      drop(from.getServer());
      fail(item, from.getServer(), false, e.getMessage());
      return false;
    }
    pay(item);
    String problem = check.problem(extent, bytes.data(), bytes.checksums());
    if (problem != null) {
      fail(item, from.getServer(), true, problem);
      return false;
    }
    return store(item, bytes);
  }

  private boolean store(Item item, SlabSource.Bytes bytes) throws IOException {
    Job job = item.job;
    if (!table.beginStore(job.slot, job.group, job.lease)) {
      return false; // nobody asks for this attempt any more
    }
    try {
      Place place = place(item);
      Stores.copy(place.data(), 0, bytes.data(), 0, bytes.data().capacity());
      Stores.copy(place.checksums(), 0, bytes.checksums(), 0, bytes.checksums().capacity());
      place.persist();
      return true;
    } finally {
      table.endStore(job.slot);
    }
  }

  /** The place of an extent and its checksum entries in an arena. */
  private record Place(MappedMemory arena, int offset, int length) {
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

  private Place place(Item item) {
    SlabPlaces places = table.places();
    int slot = item.job.slot;
    return new Place(
        arenas.get(places.arena(slot)),
        places.index(slot) * Layout.SLAB_SIZE + item.extent.getOffset(),
        item.extent.getLength());
  }

  /** The limit counts what was read, whether it could be used or not. */
  private synchronized void pay(Item item) {
    long rate = item.job.bytesPerSecond;
    limited = rate > 0;
    if (limited) {
      long now = clock.nanoTime();
      double lastsNs = (double) TimeUnit.SECONDS.toNanos(1) * item.extent.getLength() / rate;
      nextNs = (nextNs - now > 0 ? nextNs : now) + (long) lastsNs;
    }
  }

  private SlabSource source(int server) throws TakoException {
    SlabSource source = open.get(server);
    if (source == null) {
      source = sources.open(server);
      if (open.size() == SOURCES_MAX) {
        drop(open.keySet().iterator().next());
      }
      open.put(server, source);
    }
    return source;
  }

  private void drop(int server) {
    SlabSource source = open.remove(server);
    if (source != null) {
      source.close();
    }
  }

  private void closeSources() {
    open.values().forEach(SlabSource::close);
    open.clear();
  }

  /** Ends the connections to sources; {@link #step} is not called any more. */
  @Override
  public void close() {
    closeSources();
  }
}
