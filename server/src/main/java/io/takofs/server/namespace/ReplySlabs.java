package io.takofs.server.namespace;

import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.server.extent.GroupSlabs;
import java.util.List;

/**
 * Adds to a reply the slabs of the extents in it, as they are when it is sent: a recorded reply has
 * none.
 *
 * <p>Thread rule: that of the state machine.
 */
public final class ReplySlabs {
  private final GroupSlabs slabs;
  private final Reply reply;
  private Reply.Builder shown;
  private long last;

  private ReplySlabs(GroupSlabs slabs, Reply reply) {
    this.slabs = slabs;
    this.reply = reply;
  }

  /** {@code reply} with the slabs of its extents, each once. */
  public static Reply add(StateMachine machine, Reply reply) {
    return switch (reply.getResultCase()) {
      case GRANTS, OPENED_FILE, EXTENT_MAP -> new ReplySlabs(machine.slabs(), reply).all();
      default -> reply;
    };
  }

  private Reply all() {
    add(reply.getGrants().getExtentsList());
    add(reply.getExtentMap().getExtentsList());
    OpenedFile opened = reply.getOpenedFile();
    add(opened.getGrantsList());
    if (opened.hasLastExtent()) {
      add(opened.getLastExtent());
    }
    return shown == null ? reply : shown.build();
  }

  private void add(List<Extent> extents) {
    for (Extent extent : extents) {
      add(extent);
    }
  }

  private void add(Extent extent) {
    if (extent.getSlab() == last) {
      return; // mostly they are next to each other
    }
    last = extent.getSlab();
    Slab slab = slabs.get(last);
    if (slab == null || (shown != null && isShown(last))) {
      return; // the slab of a recorded grant may have left the group
    }
    shown = shown == null ? reply.toBuilder() : shown;
    shown.addSlabs(slab);
  }

  private boolean isShown(long id) {
    for (Slab slab : shown.getSlabsList()) {
      if (slab.getId() == id) {
        return true;
      }
    }
    return false;
  }
}
