package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.proto.LogPosition;
import io.takofs.proto.PrepareLog;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

/** Replicas that break a rule, to see that a simulation finds it. Parameters as of LogReplica. */
public final class WeakReplicas {
  /** Looks at its own promise after which a leader looks again, when it looks too seldom. */
  private static final int LOOKS = 40;

  private WeakReplicas() {}

  /** One that takes a frame for whole when its header is. */
  public static LogReplica withoutPayloadChecksums(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new HeaderCodec(true));
  }

  /** One that takes a frame for whole when its length and its index are possible. */
  public static LogReplica withoutChecksums(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server,
        zone,
        transports,
        identity,
        checkpointIndex,
        writersAreGone,
        new HeaderCodec(false));
  }

  /** One that goes on writing to its own log after a promise to a later leader. */
  public static LogReplica withoutFenceAgainstItself(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new UnfencedReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, Integer.MAX_VALUE);
  }

  /** One that learns late of its own promise to a later leader. */
  public static LogReplica withLateLooksAtItself(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new UnfencedReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, LOOKS);
  }

  /** One that forgets the configurations that it acted on. */
  public static LogReplica withoutEpochs(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec()) {
      @Override
      public synchronized long epoch() {
        return 0;
      }

      @Override
      void checkEpoch(long epoch) {
        // it refuses nobody
      }
    };
  }

  /** One that says the term of its last entry instead of the one in which its log was adopted. */
  public static LogReplica comparedByLastEntries(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec()) {
      @Override
      public synchronized LogPosition prepare(PrepareLog request) throws TakoException {
        LogPosition position = super.prepare(request);
        long last = 0;
        for (Segment segment : chain().segments()) {
          last = Math.max(last, segment.lastTerm());
        }
        return position.toBuilder().setAcceptedTerm(last).build();
      }
    };
  }

  /** A leader's, which asks of a member no more than the log with which it began to lead. */
  public static LogReplica askingForItsFirstLog(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec()) {
      private long first;

      @Override
      synchronized void lead(long term) throws TakoException {
        super.lead(term);
        first = lastIndex();
      }

      @Override
      synchronized long indexToAdopt() {
        return first;
      }
    };
  }

  /** One that does not see that it has what a leader's log has not any more. */
  public static LogReplica missingWhatTheyHave(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec()) {
      @Override
      boolean hasEntry(long index, int chainAfter) {
        return false;
      }
    };
  }

  private static final class HeaderCodec extends FrameCodec {
    private final Crc32cScratch crc = new Crc32cScratch();
    private final boolean checked;

    /**
     * @param checked whether the checksum of the header counts
     */
    HeaderCodec(boolean checked) {
      this.checked = checked;
    }

    @Override
    public String check(
        ByteBuffer memory,
        ByteBuffer view,
        int offset,
        int limit,
        int previousChain,
        short term16,
        long index) {
      int length = length(memory, offset);
      if (length <= 0 || frameSize(length) > limit - offset || index(memory, offset) != index) {
        return "its header is impossible";
      }
      int sum = crc.ofHeader(previousChain, memory.getLong(offset), memory, offset);
      return !checked || sum == headerChecksum(memory, offset) ? null : "its header does not match";
    }
  }

  private static final class UnfencedReplica extends LogReplica {
    private final int looks;
    private long led;
    private int left; // looks without one at the promise

    UnfencedReplica(
        int server,
        LogZone zone,
        LogTransports transports,
        LogIdentity identity,
        long checkpointIndex,
        BooleanSupplier writersAreGone,
        int looks)
        throws TakoException {
      super(server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec());
      this.looks = looks;
    }

    @Override
    synchronized void lead(long term) throws TakoException {
      led = term;
      left = looks;
      super.lead(term);
    }

    @Override
    synchronized boolean standsIn(long term) {
      return isLeading(term) || super.standsIn(term);
    }

    @Override
    synchronized boolean isLeading(long term) {
      if (led == term && super.isLeading(term)) {
        left = looks;
        return true;
      }
      return led == term && !isGranted() && left > 0 && left-- > 0;
    }
  }
}
