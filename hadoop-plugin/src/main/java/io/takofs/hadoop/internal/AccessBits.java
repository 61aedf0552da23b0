package io.takofs.hadoop.internal;

import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/** Hadoop's {@link FsAction} and Tako's 3 bits: read 4, write 2, execute 1. */
final class AccessBits {
  private static final int OWNERS = 6;

  private AccessBits() {}

  static int of(FsAction action) {
    return new FsPermission(action, FsAction.NONE, FsAction.NONE).toShort() >>> OWNERS;
  }

  static FsAction action(int bits) {
    return new FsPermission((short) (bits << OWNERS)).getUserAction();
  }
}
