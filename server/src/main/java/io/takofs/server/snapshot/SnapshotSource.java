package io.takofs.server.snapshot;

import com.google.protobuf.ByteString;
import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.CloseSnapshot;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.RenewSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SnapshotInfo;
import io.takofs.proto.SnapshotMemory;
import io.takofs.proto.SnapshotPages;
import io.takofs.proto.SnapshotState;
import io.takofs.proto.Status;
import io.takofs.server.store.HeldCheckpoint;
import io.takofs.server.store.PagedStore;
import io.takofs.transport.MemoryRegion;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets other members of a group read the last checkpoint of this one: holds it for each of them
 * until it says that it is done, or says nothing for {@link #SILENCE_MAX_NS}.
 *
 * <p>Thread rule: the store's thread. No answer waits for anything.
 */
public final class SnapshotSource {
  /** Time after which nobody reads any more, if nothing is heard, nanoseconds. */
  public static final long SILENCE_MAX_NS = TimeUnit.SECONDS.toNanos(10);

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotSource.class);

  /** Bytes of a reply for pages; the roots and the rest are a few KiB of its slot of 64 KiB. */
  private static final int BITMAP_BYTES = 32 << 10;

  /** Checkpoints held at most, more than a group has members. */
  private static final int HOLDS_MAX = 8;

  private final int group;
  private final Clock clock;
  private PagedStore store; // null while there is none
  private final Function<String, List<MemoryRegion>> zone;
  private final int pagesAtOnce;
  private final Map<Long, Hold> holds = new HashMap<>();
  private long lastNumber;

  private static final class Hold {
    final HeldCheckpoint checkpoint;
    final int server;
    long heardNs;

    Hold(HeldCheckpoint checkpoint, int server, long heardNs) {
      this.checkpoint = checkpoint;
      this.server = server;
      this.heardNs = heardNs;
    }
  }

  /**
   * A source without a store; {@link #use} gives it one.
   *
   * @param epoch incarnation of this server: no number of an earlier one is used again
   * @param zone the page zone as it is registered with a transport, for others to read: a GiB a
   *     region but the last one; empty for a transport over which it cannot be read
   */
  public SnapshotSource(
      int group, long epoch, Clock clock, Function<String, List<MemoryRegion>> zone) {
    this(group, epoch, clock, zone, 8 * BITMAP_BYTES);
  }

  SnapshotSource(
      int group,
      long epoch,
      Clock clock,
      Function<String, List<MemoryRegion>> zone,
      int pagesAtOnce) {
    this.group = group;
    this.clock = clock;
    this.zone = zone;
    this.pagesAtOnce = pagesAtOnce;
    this.lastNumber = epoch << 32;
  }

  /**
   * Another store takes the place of the present one, of which nobody gets pages any more: who
   * reads them learns that they are not held.
   *
   * @param next null for none yet
   */
  public void use(PagedStore next) {
    holds
        .values()
        .forEach(hold -> end(hold, "a checkpoint is held no longer: its store is given up"));
    holds.clear();
    store = next;
  }

  /** Answers OpenSnapshot, RenewSnapshot and CloseSnapshot. */
  public Reply handle(Request request) {
    tick();
    try {
      return switch (request.getOperationCase()) {
        case OPEN_SNAPSHOT -> open(request.getOpenSnapshot());
        case RENEW_SNAPSHOT -> renew(request.getRenewSnapshot());
        case CLOSE_SNAPSHOT -> close(request.getCloseSnapshot());
        default ->
            throw new TakoException(
                Status.INVALID_ARGUMENT,
                "the holder of a checkpoint is not asked for " + request.getOperationCase());
      };
    } catch (TakoException e) {
      return Reply.newBuilder().setStatus(e.status()).setMessage(e.getMessage()).build();
    }
  }

  /** Closes what nobody reads any more; to be called every second or so. */
  public void tick() {
    long now = clock.nanoTime();
    holds
        .values()
        .removeIf(
            hold -> {
              boolean silent = now - hold.heardNs > SILENCE_MAX_NS;
              if (silent) {
                end(hold, "a checkpoint is held no longer: its reader says nothing");
              }
              return silent;
            });
  }

  /** Checkpoints that are held for readers. */
  public int held() {
    return holds.size();
  }

  private void checkGroup(int asked) throws TakoException {
    if (asked != group) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a member of group " + group + " is asked of group " + asked);
    }
  }

  private Reply open(OpenSnapshot request) throws TakoException {
    checkGroup(request.getGroup());
    List<MemoryRegion> regions = zone.apply(request.getTransport());
    if (regions.isEmpty()) {
      throw new TakoException(
          Status.UNSUPPORTED, "pages cannot be read over '" + request.getTransport() + "' here");
    }
    if (store == null) {
      throw new TakoException(
          Status.UNAVAILABLE, "this member has no state at the moment; ask another member");
    }
    if (Long.compareUnsigned(store.checkpointIndex(), request.getAtLeastIndex()) < 0) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the last checkpoint is of log entry %d, %s is asked for; ask another member, or later"
              .formatted(
                  store.checkpointIndex(), Long.toUnsignedString(request.getAtLeastIndex())));
    }
    holds
        .values()
        .removeIf(
            hold -> {
              boolean former = hold.server == request.getServer();
              if (former) {
                end(hold, "a checkpoint is held no longer: its reader begins anew");
              }
              return former;
            });
    if (holds.size() == HOLDS_MAX) {
      throw new TakoException(
          Status.BUSY, HOLDS_MAX + " members read checkpoints of this one already; ask later");
    }
    Hold hold = new Hold(store.hold(), request.getServer(), clock.nanoTime());
    holds.put(++lastNumber, hold);
    facts(hold).info(LOG, "a member takes over a checkpoint");
    SnapshotInfo.Builder info =
        SnapshotInfo.newBuilder()
            .setSnapshot(lastNumber)
            .setIndex(hold.checkpoint.index())
            .setGeneration(hold.checkpoint.generation())
            .setCheckpoint(ByteString.copyFrom(hold.checkpoint.encoded()))
            .setPages(pages(hold.checkpoint.pages(), 0));
    for (MemoryRegion region : regions) {
      info.addMemory(
          SnapshotMemory.newBuilder().setAddress(region.address()).setRkey(region.rkey()));
    }
    return Reply.newBuilder().setSnapshotInfo(info).build();
  }

  private SnapshotPages pages(BitSet all, int from) {
    int first = Math.max(0, all.nextSetBit(from));
    int until = (int) Math.min(Integer.MAX_VALUE, (long) first + pagesAtOnce);
    return SnapshotPages.newBuilder()
        .setFirst(first)
        .setBitmap(ByteString.copyFrom(all.get(first, until).toByteArray()))
        .setNext(Math.max(0, all.nextSetBit(until)))
        .build();
  }

  private Reply renew(RenewSnapshot request) throws TakoException {
    checkGroup(request.getGroup());
    if (request.getPagesFrom() < 0) {
      throw new TakoException(Status.INVALID_ARGUMENT, "no page has such a number");
    }
    Hold hold = holds.get(request.getSnapshot());
    SnapshotState.Builder state = SnapshotState.newBuilder();
    if (hold != null && hold.checkpoint.isHeld()) {
      hold.heardNs = clock.nanoTime();
      state.setHeld(true);
      if (request.getPagesFrom() > 0) {
        state.setPages(pages(hold.checkpoint.pages(), request.getPagesFrom()));
      }
    } else if (hold != null) {
      holds.remove(request.getSnapshot());
      facts(hold).warn(LOG, "a held checkpoint was given up: its pages were needed");
    }
    return Reply.newBuilder().setSnapshotState(state).build();
  }

  private Reply close(CloseSnapshot request) throws TakoException {
    checkGroup(request.getGroup());
    Hold hold = holds.remove(request.getSnapshot());
    if (hold != null) {
      end(hold, "a member has read a checkpoint, or no longer wants it");
    }
    return Reply.newBuilder().setDone(true).build();
  }

  private void end(Hold hold, String why) {
    hold.checkpoint.close();
    facts(hold).info(LOG, why);
  }

  private Facts facts(Hold hold) {
    return Facts.of("group", group)
        .and("server", hold.server)
        .and("index", hold.checkpoint.index());
  }
}
