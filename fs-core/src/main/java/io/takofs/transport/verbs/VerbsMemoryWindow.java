package io.takofs.transport.verbs;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.jni.NativeError;
import io.takofs.jni.VerbsCore;
import io.takofs.transport.Access;

/**
 * A memory window of type 2B: what it is bound to can be reached with its key through the one queue
 * pair that bound it, and through no other, until it is invalidated. Binding is an operation of the
 * queue pair and costs about as much as a small write; no registration is touched. A window is
 * bound through one queue pair only and ends with it at the latest.
 *
 * <p>Thread rule: that of the queue pairs it is bound and invalidated through; close by any thread.
 */
final class VerbsMemoryWindow implements AutoCloseable {
  /** IBV_ACCESS_MW_BIND, for regions that windows are bound to. */
  static final int ACCESS_BIND = 1 << 4;

  /** The part of a key that whoever binds the window may choose. */
  private static final int TAG = 0xff;

  private final VerbsProtectionDomain domain;
  private final long pointer;
  private int rkey;
  private boolean open = true;

  VerbsMemoryWindow(VerbsProtectionDomain domain) throws TakoException {
    this.domain = domain;
    this.pointer =
        NativeError.check(
            VerbsCore.allocateWindow(domain.domain().pointer()), "cannot make a memory window");
    this.rkey = VerbsCore.windowKey(pointer);
  }

  /** The {@code ibv_mw}. */
  long pointer() {
    return pointer;
  }

  /** The key of the last binding; good once that has completed, until it is invalidated. */
  int rkey() {
    return rkey;
  }

  /** The next key: it differs from the last 255, so that a late user of those is refused. */
  int nextRkey() {
    rkey = (rkey & ~TAG) | ((rkey + 1) & TAG);
    return rkey;
  }

  /** The {@code ibv_access_flags} of a window; it cannot give what its region does not hold. */
  static int accessFlags(Access access) {
    Invariant.check(access != Access.LOCAL, "a window is for peers");
    // The right to write locally is the region's own.
    return VerbsControl.accessFlags(access) & ~VerbsControl.accessFlags(Access.LOCAL);
  }

  /** Frees the window, which ends its key if it still has one. */
  @Override
  public synchronized void close() {
    if (open) {
      open = false;
      domain.forget(this);
      VerbsCore.freeWindow(pointer);
    }
  }
}
