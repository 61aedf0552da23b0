package io.takofs.server.catalog.raft;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * Ratis' settings: for a catalog of a few KiB that changes once a second, on servers whose
 * processors and memory are for something else.
 */
final class RaftSettings {
  /** A follower that heard of no leader for so long, to twice as long, asks for votes. */
  private static final long ELECTION_MS = 4000;

  /** The same for the first time after a start: most often all start together. */
  private static final long FIRST_ELECTION_MS = 150;

  /** One message to a peer may take so long. */
  static final long MESSAGE_MS = 2000;

  private static final long RETRY_MS = 1000;

  /** Entries of the log until the next snapshot. */
  private static final long SNAPSHOT_ENTRIES = 4096;

  private RaftSettings() {}

  /**
   * The settings of a peer.
   *
   * @param log its directory
   */
  static RaftProperties of(Path log) {
    RaftProperties properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(properties, List.of(log.toFile()));
    RaftConfigKeys.Rpc.setType(properties, new TakoRpcType());
    times(properties);
    sizes(properties);
    // From one peer to three in one step, which the one and a majority of the three must agree to.
    RaftServerConfigKeys.LeaderElection.setMemberMajorityAdd(properties, true);
    RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, SNAPSHOT_ENTRIES);
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, 2);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    return properties;
  }

  private static void times(RaftProperties properties) {
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ms(ELECTION_MS));
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ms(2 * ELECTION_MS));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, ms(FIRST_ELECTION_MS));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, ms(4 * FIRST_ELECTION_MS));
    RaftServerConfigKeys.Rpc.setRequestTimeout(properties, ms(MESSAGE_MS));
    RaftServerConfigKeys.Rpc.setSleepTime(properties, ms(RETRY_MS));
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, ms(ELECTION_MS));
    // A server that was stopped and goes on is a follower, and never a reason to end.
    RaftServerConfigKeys.setSleepDeviationThreshold(properties, ms(ELECTION_MS));
    RaftServerConfigKeys.setCloseThreshold(properties, TimeDuration.valueOf(3650, TimeUnit.DAYS));
  }

  private static void sizes(RaftProperties properties) {
    RaftServerConfigKeys.Log.setSegmentSizeMax(properties, kib(1024));
    RaftServerConfigKeys.Log.setPreallocatedSize(properties, kib(64));
    RaftServerConfigKeys.Log.setWriteBufferSize(properties, kib(128));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(properties, 2);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(properties, kib(2048));
    RaftServerConfigKeys.Log.setQueueElementLimit(properties, 64);
    RaftServerConfigKeys.Log.setQueueByteLimit(properties, kib(512));
    RaftServerConfigKeys.Write.setElementLimit(properties, 64);
    RaftServerConfigKeys.Write.setByteLimit(properties, kib(1024));
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, kib(32));
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(properties, kib(32));
    RaftServerConfigKeys.setStorageFreeSpaceMin(properties, kib(1024));
  }

  private static TimeDuration ms(long ms) {
    return TimeDuration.valueOf(ms, TimeUnit.MILLISECONDS);
  }

  private static SizeInBytes kib(long kib) {
    return SizeInBytes.valueOf(kib << 10);
  }
}
