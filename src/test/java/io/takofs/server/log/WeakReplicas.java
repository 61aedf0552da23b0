package io.takofs.server.log;

import io.takofs.base.TakoException;
import java.nio.ByteBuffer;

/** Replicas that break a rule, to see that a simulation finds it. */
public final class WeakReplicas {
  private WeakReplicas() {}

  /** One that takes a frame for whole when its header is. */
  public static LogReplica withoutPayloadChecksums(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, () -> true, new HeaderCodec());
  }

  /** One that goes on writing to its own log after a promise to a later leader. */
  public static LogReplica withoutFenceAgainstItself(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex)
      throws TakoException {
    return new UnfencedReplica(server, zone, transports, identity, checkpointIndex);
  }

  private static final class HeaderCodec extends FrameCodec {
    private final Crc32cScratch crc = new Crc32cScratch();

    @Override
    String check(
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
      return sum == headerChecksum(memory, offset) ? null : "its header does not match";
    }
  }

  private static final class UnfencedReplica extends LogReplica {
    private long led;

    UnfencedReplica(
        int server,
        LogZone zone,
        LogTransports transports,
        LogIdentity identity,
        long checkpointIndex)
        throws TakoException {
      super(server, zone, transports, identity, checkpointIndex, () -> true, new FrameCodec());
    }

    @Override
    synchronized void lead(long term) throws TakoException {
      led = term;
      super.lead(term);
    }

    @Override
    synchronized boolean standsIn(long term) {
      return isLeading(term) || super.standsIn(term);
    }

    @Override
    synchronized boolean isLeading(long term) {
      return led == term && !isGranted();
    }
  }
}
