package io.takofs.transport.verbs;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.jni.NativeError;
import io.takofs.jni.VerbsCore;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryWindow;
import java.io.IOException;

/**
 * An {@code ibv_mw} of type 2B.
 *
 * <p>Unless the device is known to look at the window's own bounds, and not only at those of the
 * region that it is bound to, each binding gets a region of exactly its bytes.
 */
final class VerbsMemoryWindow implements MemoryWindow {
  /** IBV_ACCESS_MW_BIND, for regions that windows are bound to. */
  static final int ACCESS_BIND = 1 << 4;

  /** The part of a key that whoever binds the window may choose. */
  private static final int TAG = 0xff;

  private final VerbsProtectionDomain domain;
  private final boolean exact;
  private final long pointer;
  private volatile int rkey;
  private VerbsRegistration cover;
  private boolean open = true;

  /**
   * A window.
   *
   * @param exact whether the device is known to look at the window's own bounds
   */
  VerbsMemoryWindow(VerbsProtectionDomain domain, boolean exact) throws TakoException {
    this.domain = domain;
    this.exact = exact;
    this.pointer =
        NativeError.check(
            VerbsCore.allocateWindow(domain.domain().pointer()), "cannot make a memory window");
    this.rkey = VerbsCore.windowKey(pointer);
  }

  /** The {@code ibv_mw}. */
  long pointer() {
    return pointer;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  /** The next key: it differs from the last 255, so that a late user of those is refused. */
  int nextRkey() {
    rkey = (rkey & ~TAG) | ((rkey + 1) & TAG);
    return rkey;
  }

  /** The {@code ibv_mr} to bind to for {@code length} bytes at {@code offset} of {@code region}. */
  synchronized long cover(VerbsMemoryRegion region, int offset, int length) throws IOException {
    Invariant.check(open, "use of a closed memory window");
    if (exact) {
      return region.pointer();
    }
    uncover();
    int access = VerbsControl.accessFlags(Access.LOCAL) | ACCESS_BIND;
    cover = domain.domain().register(region.address() + offset, length, access);
    return cover.pointer();
  }

  private void uncover() {
    if (cover != null) {
      cover.close();
      cover = null;
    }
  }

  /** The {@code ibv_access_flags} of a window; it cannot give what its region does not hold. */
  static int accessFlags(Access access) {
    Invariant.check(access != Access.LOCAL, "a window is for peers");
    // The right to write locally is the region's own.
    return VerbsControl.accessFlags(access) & ~VerbsControl.accessFlags(Access.LOCAL);
  }

  @Override
  public synchronized void close() {
    if (open) {
      open = false;
      domain.forget(this);
      VerbsCore.freeWindow(pointer);
      uncover();
    }
  }
}
