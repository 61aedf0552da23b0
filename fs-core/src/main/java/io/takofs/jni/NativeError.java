package io.takofs.jni;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;

/** Errors of the native core: each errno with its status for callers and its text for people. */
public enum NativeError {
  NO_PERMISSION(1, Status.PERMISSION_DENIED, "not permitted"),
  NOT_FOUND(2, Status.NOT_FOUND, "no such file"),
  AGAIN(11, Status.UNAVAILABLE, "held by another"),
  NO_MEMORY(12, Status.NO_SPACE, "out of memory or of mappings (vm.max_map_count)"),
  ACCESS(13, Status.PERMISSION_DENIED, "permission denied"),
  EXISTS(17, Status.ALREADY_EXISTS, "exists already"),
  INVALID(22, Status.INVALID_ARGUMENT, "not a regular file, or shorter than it should be"),
  TOO_MANY_FILES(24, Status.UNAVAILABLE, "too many open files"),
  TOO_LARGE(27, Status.INVALID_ARGUMENT, "larger than the file system allows"),
  NO_SPACE(28, Status.NO_SPACE, "no space left"),
  READ_ONLY(30, Status.PERMISSION_DENIED, "read-only file system"),
  SYMBOLIC_LINK(40, Status.PERMISSION_DENIED, "a symbolic link where a file must be"),
  OTHER(0, Status.INTERNAL, "failed");

  private final int errno;
  private final Status status;
  private final String meaning;

  NativeError(int errno, Status status, String meaning) {
    this.errno = errno;
    this.status = status;
    this.meaning = meaning;
  }

  /** Returns {@code result}, or throws what a negative one says about {@code what}. */
  public static long check(long result, String what) throws TakoException {
    if (result >= 0) {
      return result;
    }
    NativeError error = of((int) -result);
    throw new TakoException(error.status, what + ": " + error.meaning + " (errno " + -result + ")");
  }

  /** As {@link #check(long, String)}, for an int. */
  public static int check(int result, String what) throws TakoException {
    return (int) check((long) result, what);
  }

  /** Whether a result says that another holds what was asked for. */
  public static boolean isAgain(int result) {
    return result == -AGAIN.errno;
  }

  static NativeError of(int errno) {
    for (NativeError error : values()) {
      if (error.errno == errno) {
        return error;
      }
    }
    return OTHER;
  }
}
