package io.takofs.client.internal.session;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.proto.Extent;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The newest version of each slab that the servers have shown lately: where its replicas are. A
 * reply shows the slabs of all extents in it, so what is forgotten here is shown again.
 *
 * <p>Thread rule: any thread.
 */
public final class SlabCache {
  /** Slabs that are remembered: of 1 TiB of data, in about 10 MB of heap. */
  static final int SLABS_MAX = 65536;

  private final Map<Long, Slab> slabs =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Slab> eldest) {
          return size() > SLABS_MAX;
        }
      };

  /** Remembers those of {@code shown} that are newer than what is known. */
  void add(List<Slab> shown) {
    if (shown.isEmpty()) {
      return; // as of most replies, which take no lock
    }
    synchronized (slabs) {
      for (Slab slab : shown) {
        slabs.merge(
            slab.getId(),
            slab,
            (known, now) -> now.getVersion() >= known.getVersion() ? now : known);
      }
    }
  }

  /** The newest known version; null when none is. */
  public Slab find(long id) {
    synchronized (slabs) {
      return slabs.get(id);
    }
  }

  /**
   * The places of the replicas of {@code extent}, at least one.
   *
   * @throws TakoException INTERNAL when the server has not shown the extent's slab
   */
  public List<Place> places(Extent extent) throws TakoException {
    Slab slab = find(extent.getSlab());
    if (slab == null || slab.getReplicasCount() == 0) {
      throw new TakoException(
          Status.INTERNAL,
          "the server named slab " + extent.getSlab() + " and did not say where it is");
    }
    return Place.in(slab, extent);
  }
}
