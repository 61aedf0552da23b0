package io.takofs.server.zone;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Arenas;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.extent.Location;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * The file data of a server: its arenas, the connections to them, the windows of writers, and the
 * holds of readers. It knows neither paths nor leases.
 *
 * <p>Thread rule: any thread.
 */
public final class ServerDataZone {
  private final List<MappedMemory> arenas;
  private final ReaderHolds holds;
  private final Executor registering;
  private final WriteWindows windows = new WriteWindows();
  private final DataConnections connections;
  private final SlabTable slabs;
  private final SlabFences fences;
  private final SlabRequests requests;

  /**
   * @param slabs of the arenas
   * @param registering registers the arenas for connections to come; it outlives the server
   * @param formerPeers whether a client of an earlier incarnation may still write to the arenas
   *     without a connection to this one
   */
  public ServerDataZone(
      List<MappedMemory> arenas,
      SlabTable slabs,
      ReaderHolds holds,
      Executor registering,
      BooleanSupplier formerPeers) {
    this.arenas = List.copyOf(arenas);
    this.holds = holds;
    this.registering = registering;
    this.connections = new DataConnections(formerPeers, windows);
    this.slabs = slabs;
    this.fences = new SlabFences(slabs, connections, windows, holds);
    this.requests = new SlabRequests(slabs, fences, holds);
  }

  public List<MappedMemory> arenas() {
    return arenas;
  }

  /** Space of the arenas, in whole slabs. */
  public SpaceUsage usage() {
    return slabs.usage();
  }

  public WriteWindows windows() {
    return windows;
  }

  public DataConnections connections() {
    return connections;
  }

  /**
   * The arenas as the data connection of {@code clientId} addresses them.
   *
   * @param first index of the first arena wanted
   * @param most arenas that the reply has room for
   * @throws TakoException DISCONNECTED when the client has no data connection, INVALID_ARGUMENT
   *     when there is no such arena
   */
  public Arenas describe(long clientId, int first, int most) throws TakoException {
    ArenaExport export = connections.exportTo(clientId);
    if (export == null) {
      throw new TakoException(
          Status.DISCONNECTED, "the client has no connection to the data zone; make one first");
    }
    Arenas.Builder arenas = export.describe(first, most).toBuilder();
    holds.describe(arenas);
    return arenas.build();
  }

  /**
   * Registers the arenas with {@code transport}; the caller closes the result.
   *
   * @throws IOException when the host does not let so much be registered
   */
  public ArenaExports exportTo(Transport transport) throws IOException {
    return new ArenaExports(transport, arenas, registering);
  }

  /**
   * Answers what the leader of a log group asks: LeaseSlabs, ReturnSlabs, ListSlabs, FenceExtents,
   * CopyExtents. Never waits: it answers what is so by now, and is asked again. Every answer may be
   * asked for again. Windows that it closes are posted by the caller's next {@link
   * WriteWindows#post}, and connections that it ends by the next {@link DataConnections#sweep}.
   *
   * @return the answer; STALE_TERM when a later leader of the group was heard of
   */
  public Reply handle(Request request) {
    return requests.handle(request);
  }

  /**
   * Whether a grant must not be given the means to write an extent: it is fenced there, or being
   * fenced, or the slab is not lent under {@code lease}.
   *
   * @throws TakoException INVALID_ARGUMENT when no slab can have such an extent
   */
  public boolean isFenced(Location extent, long lease, long grant) throws TakoException {
    return fences.isClosed(requests.slotOf(extent), lease, extent, grant);
  }

  /**
   * Lets a client write an extent through windows of its present connection, whose keys {@link
   * WriteWindows#withKeys} has when {@code gate} opens. {@link WriteWindows#post} begins it.
   *
   * @param extent in an arena, with the number of the client's grant, which was proved
   * @param lease of the slab, as it was proved
   * @return false when the grant is fenced here, or a later one has windows there, or the slab is
   *     not lent under {@code lease}
   * @throws TakoException INVALID_ARGUMENT when no slab can have such an extent
   */
  public boolean open(long clientId, long fileId, Extent extent, long lease, ReplyGate gate)
      throws TakoException {
    int slot = requests.slotOf(Location.of(extent));
    return fences.open(slot, lease, clientId, fileId, extent, gate);
  }

  /**
   * Lets leaders copy extents from other servers to this one. Once.
   *
   * @param clock of the limit of bytes a second
   * @return does the copying, when its owner calls it; the owner closes it
   */
  public SlabCopy copyFrom(SlabSources sources, Clock clock) {
    SlabCopy copier = new SlabCopy(arenas, slabs, sources, clock);
    requests.copyWith(copier);
    return copier;
  }
}
