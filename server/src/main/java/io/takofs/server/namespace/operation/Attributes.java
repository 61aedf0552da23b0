package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.Permissions;

/** Checks of the attributes that callers give. */
final class Attributes {
  private static final int REPLICATION_MAX = 512;

  private Attributes() {}

  static void checkPermission(int permission, FilePath path) throws TakoException {
    if ((permission & ~Permissions.MASK) != 0) {
      throw invalid(
          "permission %o of %s has bits beyond %o".formatted(permission, path, Permissions.MASK));
    }
  }

  static void checkReplication(int replication, FilePath path) throws TakoException {
    if (replication < 1 || replication > REPLICATION_MAX) {
      throw invalid(
          "replication %d of %s is not within 1 to %d"
              .formatted(replication, path, REPLICATION_MAX));
    }
  }

  static void checkBlockSize(long blockSize, FilePath path) throws TakoException {
    if (blockSize < 1) {
      throw invalid(
          "block size %d of %s is not a positive number of bytes".formatted(blockSize, path));
    }
  }

  /** A user or group that is to be stored. */
  static void checkPrincipal(String name, String what) throws TakoException {
    if (name.isEmpty()) {
      throw invalid("the name of the %s is empty".formatted(what));
    }
    UnicodeText.check(name, "the name of the " + what);
    if (name.getBytes(UTF_8).length > Limits.NAME_MAX) {
      throw invalid("the name of the %s is longer than %d bytes".formatted(what, Limits.NAME_MAX));
    }
  }

  private static TakoException invalid(String what) {
    return new TakoException(Status.INVALID_ARGUMENT, what);
  }
}
