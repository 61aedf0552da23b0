package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;

/**
 * A memory region ({@code ibv_mr}) over memory of someone else.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsRegistration implements AutoCloseable {
  private final VerbsResources resources;
  private final IbvMr region;
  private final long address;
  private final long length;

  VerbsRegistration(VerbsResources resources, IbvMr region, long address, long length) {
    this.resources = resources;
    this.region = region;
    this.address = address;
    this.length = length;
    resources.add(VerbsResources.Kind.REGISTRATION, this);
  }

  /** The {@code ibv_mr}, which a memory window is bound to. */
  long pointer() {
    return ((NatObject) region).getObjId();
  }

  long address() {
    return address;
  }

  long length() {
    return length;
  }

  int lkey() {
    return region.getLkey();
  }

  int rkey() {
    return region.getRkey();
  }

  /** Needs the windows over it closed. */
  @Override
  public void close() {
    if (!resources.remove(VerbsResources.Kind.REGISTRATION, this)) {
      return;
    }
    try {
      region.deregMr().execute().free();
    } catch (IOException e) {
      throw new IllegalStateException(
          "a memory region could not be deregistered: close the windows over it first", e);
    }
  }
}
