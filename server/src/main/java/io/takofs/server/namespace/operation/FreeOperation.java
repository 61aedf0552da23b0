package io.takofs.server.namespace.operation;

import io.takofs.proto.Extent;
import io.takofs.proto.FreeExtents;
import io.takofs.proto.Reply;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.Context;
import java.util.HashSet;
import java.util.Set;

/** The end of quarantine. An extent not in quarantine, or of another generation, is left alone. */
public final class FreeOperation {
  private FreeOperation() {}

  public static Reply apply(Context context, FreeExtents command) {
    ExtentTable table = context.state().extents;
    Set<SlabRange> freed = new HashSet<>();
    for (Extent extent : command.getExtentsList()) {
      Quarantined resting = table.quarantined(SlabRange.of(extent), extent.getGeneration());
      if (resting != null && freed.add(resting.range())) {
        table.free(context.tx(), resting);
      }
    }
    return Replies.done();
  }
}
