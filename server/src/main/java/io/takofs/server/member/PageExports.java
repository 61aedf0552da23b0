package io.takofs.server.member;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.MemoryRegion;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The transports over which the page zone is read.
 *
 * <p>Thread rule: any thread.
 */
final class PageExports {
  private final Map<String, PageExport> all = new ConcurrentHashMap<>();

  /** Others may read over the transport of {@code export} from now on. */
  void add(PageExport export) {
    all.put(export.transport(), export);
  }

  /** Nobody may any more. */
  void remove(PageExport export) {
    all.remove(export.transport(), export);
  }

  /** The regions of the zone there; none where it cannot be read. */
  List<MemoryRegion> regions(String transport) {
    PageExport export = all.get(transport);
    return export == null ? List.of() : export.regions();
  }

  /**
   * The zone as it is registered with a transport.
   *
   * @throws TakoException UNAVAILABLE when it is not
   */
  PageExport find(String transport) throws TakoException {
    PageExport export = all.get(transport);
    if (export == null) {
      throw new TakoException(
          Status.UNAVAILABLE, "the page zone is not read over '" + transport + "' here");
    }
    return export;
  }
}
