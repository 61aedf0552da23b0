package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.impl.NatObject;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.io.IOException;

/**
 * A protection domain ({@code ibv_pd}).
 *
 * <p>Thread rule: any thread.
 */
final class VerbsDomain implements AutoCloseable {
  private final VerbsResources resources;
  private final IbvPd domain;

  VerbsDomain(VerbsResources resources, IbvPd domain) {
    this.resources = resources;
    this.domain = domain;
    resources.add(VerbsResources.Kind.DOMAIN, this);
  }

  IbvPd domain() {
    return domain;
  }

  /** The {@code ibv_pd}. */
  long pointer() {
    return ((NatObject) domain).getObjId();
  }

  /**
   * Registers memory that stays its owner's, and mapped until the registration is closed.
   *
   * @param length at most 1 GiB
   * @param accessFlags of {@code ibv_access_flags}, windows ({@code IBV_ACCESS_MW_BIND}) included
   * @throws IOException saying how much was asked for and which limit stands against it
   */
  VerbsRegistration register(long address, long length, int accessFlags) throws IOException {
    // DiSNI passes lengths as int; a larger one would come out as another number.
    Invariant.check(
        length > 0 && length <= Layout.ARENA_SIZE,
        () -> "a registration has 1 byte to 1 GiB, not " + length);
    SVCRegMr call = domain.regMr(address, (int) length, accessFlags);
    try {
      IbvMr region = call.execute().getMr();
      return new VerbsRegistration(resources, region, address, length);
    } catch (IOException e) {
      throw new TakoException(
          Status.NO_SPACE,
          "registering "
              + length
              + " bytes with the RDMA device failed: "
              + e.getMessage()
              + "; the limit of locked memory (ulimit -l, LimitMEMLOCK=) must allow it; a server registers its pool for each client that moves data",
          e);
    } finally {
      call.free();
    }
  }

  /** Needs its registrations and queue pairs closed. */
  @Override
  public void close() {
    if (!resources.remove(VerbsResources.Kind.DOMAIN, this)) {
      return;
    }
    try {
      VerbsResources.checkDestroyed(domain.deallocPd(), "a protection domain");
    } catch (IllegalStateException e) {
      throw e;
    } catch (Exception e) { // as DiSNI declares it
      throw new IllegalStateException("a protection domain could not be destroyed", e);
    }
  }
}
