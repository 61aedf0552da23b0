package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;

/**
 * A completion queue ({@code ibv_cq}), not polled here.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsCompletions implements AutoCloseable {
  private final VerbsResources resources;
  private final IbvCQ queue;
  private final int capacity;

  VerbsCompletions(VerbsResources resources, IbvCQ queue, int capacity) {
    this.resources = resources;
    this.queue = queue;
    this.capacity = capacity;
    resources.add(VerbsResources.Kind.COMPLETIONS, this);
  }

  IbvCQ queue() {
    return queue;
  }

  /** The {@code ibv_cq}. */
  long pointer() {
    return ((NatObject) queue).getObjId();
  }

  /** Entries asked for; the device may have given more. */
  int capacity() {
    return capacity;
  }

  /**
   * Needs its queue pairs closed and its channel's events acknowledged, or waits for the latter.
   */
  @Override
  public void close() {
    if (!resources.remove(VerbsResources.Kind.COMPLETIONS, this)) {
      return;
    }
    try {
      VerbsResources.checkDestroyed(queue.destroyCQ(), "a completion queue");
    } catch (IOException e) {
      throw new IllegalStateException("a completion queue could not be destroyed", e);
    }
  }
}
