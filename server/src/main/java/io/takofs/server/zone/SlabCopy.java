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
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Pulls extents from other servers, to fill a slab or to move them to it: reads them one-sided,
 * verifies the copy, and stores it, with its checksum entries, into a slab that is leased here.
 * What verifies here already is not read again, so that a server that was started again goes on
 * where it was. Without sources the extents that are here are only verified.
 *
 * <p>Nothing is stored once the lease of the slab is over, or the grant under which an extent moves
 * is fenced; the slab is not lent again, and the grant not fenced, before a store that was begun is
 * done ({@link SlabTable#beginStore}).
 *
 * <p>Thread rule: {@link #step} by one thread, which waits for sources without any lock; the others
 * by any. A simulation calls {@link #step} itself.
 */
public final class SlabCopy implements AutoCloseable {
  /** Extents that wait at most; what is asked for beyond is to be asked for again. */
  static final int QUEUE_MAX = 4096;

  /** Slabs that are remembered as filled at most; leaders have fewer under way. */
  static final int FILLS_MAX = 16;

  /** Moves that are remembered at most; leaders have fewer under way. */
  static final int MOVES_MAX = 64;

  /** Extents that sources are told of before they are read. */
  private static final int AHEAD = RemoteSlabSource.PIECES - 1;

  private static final String NOT_LENT =
      "the slab is not leased under this number, or to a later attempt, or the grant is over";

  private final List<MappedMemory> arenas;
  private final SlabTable table;
  private final OpenSources sources; // of the stepping thread
  private final Clock clock;
  private final ExtentCheck check = new ExtentCheck();
  private LocalSlabSource local; // of the stepping thread; null until it is needed
  private final Map<JobKey, Job> jobs = new LinkedHashMap<>(); // the one begun last at the end
  private final ArrayDeque<Item> queue = new ArrayDeque<>();
  private volatile Runnable onWork = () -> {};
  private volatile boolean stopping;
  private long nextNs; // when the limit lets the next extent be read
  private boolean limited;

  /**
   * Of a slab that is filled there is one job, of the latest attempt; of one to which extents move,
   * one an attempt.
   *
   * @param move the attempt; 0 of one that fills the slab
   */
  private record JobKey(int slot, long move) {
    static JobKey of(int slot, CopyExtents request) {
      return new JobKey(slot, request.getSourceOffsetsCount() > 0 ? request.getAttempt() : 0);
    }

    boolean isMove() {
      return move != 0;
    }
  }

  /** One attempt to fill a slab, or to move extents to it. */
  private static final class Job {
    final JobKey key;
    final int slot;
    final int group;
    final long lease;
    final long attempt;
    final int server; // this one's number
    final Map<Integer, Item> items = new HashMap<>(); // by offset in the slab
    List<Replica> sources = List.of();
    long bytesPerSecond;

    Job(JobKey key, int group, CopyExtents request) {
      this.key = key;
      this.slot = key.slot;
      this.group = group;
      this.lease = request.getTarget().getLease();
      this.attempt = request.getAttempt();
      this.server = request.getTarget().getServer();
    }
  }

  /** One extent of an attempt. */
  private static final class Item {
    final Job job;
    final Extent extent;
    final int sourceOffset; // in the slabs of sources
    final CopyProgress.Builder failures = CopyProgress.newBuilder();
    boolean isDone;
    boolean isOver; // done, or no source had it
    boolean isLookedAt; // before it is copied; of the stepping thread
    String problem; // of the bytes that are here then

    Item(Job job, Extent extent, int sourceOffset) {
      this.job = job;
      this.extent = extent;
      this.sourceOffset = sourceOffset;
    }

    SlabTable.Units units() {
      return new SlabTable.Units(
          extent.getOffset() / Layout.UNIT_SIZE, extent.getCapacity() / Layout.UNIT_SIZE);
    }

    /** Under which it is stored; 0 when nothing is granted in the slab. */
    long grant() {
      return job.key.isMove() ? extent.getGrant() : 0;
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
    this.sources = new OpenSources(sources, clock);
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
          boolean moves = request.getSourceOffsetsCount() > 0;
          Extent extent = request.getExtents(i);
          int from = moves ? request.getSourceOffsets(i) : extent.getOffset();
          ask(job, i, new Item(job, extent, from), progress);
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
    JobKey key = JobKey.of(slot, request);
    Job job = jobs.get(key);
    if (job != null && job.attempt > request.getAttempt()) {
      return null;
    }
    if (job == null || job.attempt < request.getAttempt()) {
      job = new Job(key, group, request);
      jobs.remove(key);
      forgetOldest(key.isMove());
      jobs.put(key, job);
    }
    if (request.getSourcesCount() == 0 && !job.sources.isEmpty()) {
      job.items.clear(); // what was copied is verified anew
    }
    job.sources = request.getSourcesList();
    job.bytesPerSecond = request.getBytesPerSecond();
    return job;
  }

  /** Ends the jobs of one kind that began first: nobody asks for them again, or they begin anew. */
  private void forgetOldest(boolean moves) {
    long count = jobs.keySet().stream().filter(key -> key.isMove() == moves).count();
    Iterator<JobKey> first = jobs.keySet().iterator();
    while (count >= (moves ? MOVES_MAX : FILLS_MAX)) {
      if (first.next().isMove() == moves) {
        first.remove();
        count--;
      }
    }
  }

  private void ask(Job job, int index, Item asked, CopyProgress.Builder progress) {
    Extent extent = asked.extent;
    Item item = job.items.get(extent.getOffset());
    if (item == null || !item.extent.equals(extent)) {
      if (queue.size() < QUEUE_MAX) {
        job.items.put(extent.getOffset(), asked);
        queue.add(asked);
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

  /** Has {@link #step} try no other source for the extent that it copies, and be the last one. */
  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
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
    boolean forgets = false;
    synchronized (this) {
      while (!queue.isEmpty() && !isWanted(queue.peek())) {
        queue.remove();
        forgets = true;
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
    if (forgets || item == null) {
      sources.forget();
    }
    long untilIdleNs = sources.closeIdle();
    if (item == null) {
      return untilIdleNs;
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
    return jobs.get(item.job.key) == item.job
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
      if (mayStore(item)) {
        prefetch(item, from.get(0));
      }
      for (Replica source : from) {
        if (stopping || !mayStore(item)) {
          sources.forget();
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

  private boolean mayStore(Item item) {
    Job job = item.job;
    return table.mayStore(job.slot, job.group, job.lease, item.units(), item.grant());
  }

  private synchronized void fail(Item item, int source, boolean wrongBytes, String reason) {
    item.fail(source, wrongBytes, reason);
  }

  /** What is wrong with the bytes that are here; null when nothing is: they are persistent then. */
  private String problem(Item item) throws IOException {
    Job job = item.job;
    if (!table.beginStore(job.slot, job.group, job.lease, item.units(), item.grant())) {
      return NOT_LENT;
    }
    try {
      StoredExtent place = place(item);
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
    SlabSource source = sources.get(from.getServer());
    if (source == null) {
      return; // the first read connects
    }
    source.prefetch(from.getArena(), place(item, from), item.extent.getLength());
    for (Item next : next(from)) {
      if (!next.isLookedAt) {
        next.problem = problem(next);
        next.isLookedAt = true;
      }
      Replica first = first(next);
      if (next.problem != null && first != null && first.getServer() == from.getServer()) {
        source.prefetch(first.getArena(), place(next, first), next.extent.getLength());
      }
    }
  }

  private static int place(Item item, Replica from) {
    return from.getIndex() * Layout.SLAB_SIZE + item.sourceOffset;
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
          source(item, from.getServer())
              .read(from.getArena(), place(item, from), extent.getLength());
    } catch (TakoException e) {
      sources.drop(from.getServer());
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
    if (!table.beginStore(job.slot, job.group, job.lease, item.units(), item.grant())) {
      return false; // nobody asks for this attempt any more
    }
    try {
      StoredExtent place = place(item);
      Stores.copy(place.data(), 0, bytes.data(), 0, bytes.data().capacity());
      Stores.copy(place.checksums(), 0, bytes.checksums(), 0, bytes.checksums().capacity());
      place.persist();
      return true;
    } finally {
      table.endStore(job.slot);
    }
  }

  private StoredExtent place(Item item) {
    SlabPlaces places = table.places();
    int slot = item.job.slot;
    return new StoredExtent(
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

  private SlabSource source(Item item, int server) throws TakoException {
    if (server == item.job.server) {
      local = local == null ? new LocalSlabSource(arenas) : local;
      return local;
    }
    return sources.open(server);
  }

  /** Ends the connections to sources; {@link #step} is not called any more. */
  @Override
  public void close() {
    sources.close();
  }
}
