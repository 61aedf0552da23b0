package io.takofs.server.loggroup;

import io.takofs.base.Version;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.rpc.RpcConnection;
import io.takofs.server.log.Log;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.slabs.SlabLeases;
import io.takofs.server.slabs.SlabSupply;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the status of the server without its transports.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class StatusReport {
  private final ServerSettings settings;
  private final long epoch;
  private final Store store;
  private final Log log;
  private final StateMachine machine;
  private final ClientTable sessions;
  private final SlabSupply supply;
  private final SlabLeases leases;
  private final SafeMode safeMode;
  private final Counters counters;
  private final OperationTimes times;
  private final Journal journal;
  private long replayedBytes;

  public StatusReport(LogGroup group) {
    this.settings = group.settings;
    this.epoch = group.epoch();
    this.store = group.storage.store();
    this.log = group.storage.log();
    this.machine = group.machine();
    this.sessions = group.sessions();
    this.supply = group.supply();
    this.leases = group.leases();
    this.safeMode = group.safeMode();
    this.counters = group.counters;
    this.times = group.times;
    this.journal = group.journal();
  }

  /** Excludes the bytes committed so far, which came from the replay of the log. */
  public void recovered() {
    replayedBytes = machine.committedBytes();
  }

  public Reply build() {
    SpaceUsage usage = supply.usage();
    ServerStatus.Builder status =
        ServerStatus.newBuilder()
            .setVersion(Version.text())
            .setEpoch(epoch)
            .setUsage(usage)
            .setFiles(machine.files())
            .setDirectories(machine.directories())
            .setOpenFiles(machine.openFiles())
            .setLogLastIndex(log.lastIndex())
            .setLogSegments(log.segmentCount())
            .setCheckpointIndex(store.checkpointIndex())
            .putAllCounters(counters.snapshot())
            .putAllCounters(times.counters())
            .putCounters("log.bytes", log.appendedBytes())
            .putCounters("sessions", sessions.all().size())
            .setUser(settings.user())
            .setMetadataPagesUsed(store.pagesUsed())
            .setMetadataPagesTotal(store.pagesTotal())
            .setSafeMode(safeMode.isOn())
            .addAllOperations(times.snapshot())
            .addAllExtents(extents(usage.getFree()))
            .setCheckpoint(journal.checkpointStatus())
            .setLogSegmentsFree(log.freeSegmentCount())
            .setCommittedBytes(machine.committedBytes() - replayedBytes);
    leases.spare().forEach((server, slabs) -> putSpare(status, server, slabs));
    ConnectionList connections = new ConnectionList(status);
    for (ClientState client : sessions.all()) {
      for (RpcConnection connection : client.connections) {
        connections.add(
            ConnectionStatus.newBuilder()
                .setClientName(client.clientName)
                .setTransport(connection.transportName())
                .setRemote(connection.remoteName())
                .setUser(client.caller.getUser())
                .setCalls(connection.calls())
                .build());
      }
    }
    return Reply.newBuilder().setServerStatus(status).build();
  }

  /** Such as {@code slabs.spare.2}: what server 2 has handed out, and is in no slab yet. */
  private static void putSpare(ServerStatus.Builder status, int server, int slabs) {
    if (slabs > 0) { // or a large cluster has a line for each of its servers
      status.putCounters("slabs.spare." + server, slabs);
    }
  }

  /** Extents by state, with {@code free} bytes that are free, as in the rest of the status. */
  private List<ExtentStatus> extents(long free) {
    List<ExtentStatus> states = new ArrayList<>(machine.extents());
    states.replaceAll(
        state ->
            state.getState().equals("free") ? state.toBuilder().setBytes(free).build() : state);
    return states;
  }
}
