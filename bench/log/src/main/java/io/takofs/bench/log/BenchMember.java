package io.takofs.bench.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.log.GroupCatalog;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogMemory;
import io.takofs.server.log.LogPeers;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTimes;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.ReplicatedLog;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * One of the two members of a group: the product's own, on memory of a file.
 *
 * @param memory the regions of its log, as the other member names them
 */
record BenchMember(
    MappedMemory zone,
    LogMemory memory,
    LogTransport via,
    LogReplica replica,
    ReplicatedLog log,
    LogMember member) {
  private static final long HEARTBEAT_NS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Nobody is missed while a process waits for its turn. */
  private static final long ELECTION_NS = TimeUnit.HOURS.toNanos(1);

  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final GroupConfig BOTH = new GroupConfig(1, Set.of(1, 2), Set.of(), true);

  /**
   * @param file of the log, which is made
   * @param slots segments that it has room for
   * @param queue where the writes of this member complete
   */
  static BenchMember create(
      int server,
      int group,
      Path file,
      int slots,
      String transport,
      ProtectionDomain domain,
      CompletionQueue queue,
      LogPeers peers)
      throws IOException {
    try (Undo undo = new Undo()) {
      MappedMemory zone = undo.add(MappedMemory.create(file, (long) slots * Layout.SEGMENT_SIZE));
      List<MemoryRegion> regions = new ArrayList<>();
      for (long at = 0; at < zone.length(); at += Layout.SEGMENT_SIZE) {
        regions.add(
            domain.register(
                zone,
                at + Layout.SEGMENT_DATA_OFFSET,
                Layout.SEGMENT_SIZE - Layout.SEGMENT_DATA_OFFSET,
                Access.REMOTE_READ_WRITE));
      }
      MemoryRegion heartbeat = domain.allocate(Layout.HEARTBEAT_SIZE, Access.REMOTE_READ_WRITE);
      LogMemory memory = new LogMemory(regions, heartbeat);
      LogTransport via = new LogTransport(transport, domain, memory, queue);
      LogTransports transports = new LogTransports();
      transports.add(via);
      LogReplica replica = replica(server, group, zone, transports);
      ReplicatedLog log = new ReplicatedLog(replica, 0);
      LogMember member =
          new LogMember(
              group,
              replica,
              log,
              peers,
              catalog(),
              new LogTimes(HEARTBEAT_NS, ELECTION_NS, ELECTION_NS, RETRY_NS, 0),
              Clock.SYSTEM,
              new Random(group));
      undo.keep();
      return new BenchMember(zone, memory, via, replica, log, member);
    }
  }

  /** Opens the log in {@code zone}: an empty one, or what a former process left. */
  static LogReplica replica(int server, int group, MappedMemory zone, LogTransports transports)
      throws TakoException {
    return LogReplica.open(
        server,
        LogZone.of(zone, 0, zone.length()),
        transports,
        new LogIdentity(group, 1),
        0,
        () -> true);
  }

  private static GroupCatalog catalog() {
    return new GroupCatalog() {
      @Override
      public GroupConfig read() {
        return BOTH;
      }

      @Override
      public void activate(long epoch) {
        // It is.
      }
    };
  }
}
