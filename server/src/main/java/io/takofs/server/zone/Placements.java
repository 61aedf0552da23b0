package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Placement;
import io.takofs.proto.Request;
import io.takofs.server.namespace.StateMachine;
import java.util.List;

/**
 * Stores the bytes that commits carry, as their sender would have, and takes them out: the log says
 * where file data is and never has it.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class Placements {
  private final List<MappedMemory> arenas;
  private final StateMachine machine;

  public Placements(List<MappedMemory> arenas, StateMachine machine) {
    this.arenas = List.copyOf(arenas);
    this.machine = machine;
  }

  /**
   * Returns what is left of {@code request} to be logged.
   *
   * @throws TakoException when the caller may not write there; nothing was stored then
   */
  public Request place(long clientId, Request request) throws TakoException {
    CommitExtents commit = Commits.of(request);
    if (commit.getPlacementsCount() == 0) {
      return request;
    }
    machine.checkPlacements(clientId, commit);
    for (Placement placement : commit.getPlacementsList()) {
      int size = placement.getData().size();
      placement
          .getData()
          .copyTo(arenas.get(placement.getArena()).slice(placement.getOffset(), size));
    }
    return Commits.replace(request, commit.toBuilder().clearPlacements().build());
  }
}
