package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.ClusterStorageCapacityExceededException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.InvalidRequestException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.security.AccessControlException;

/**
 * Gives every {@link Status} the exception that Hadoop's callers branch on, as HDFS would throw it.
 * A failure that Hadoop has no type for stays a {@link TakoException}.
 *
 * <p>Thread rule: any thread; stateless.
 */
final class ErrorTranslation {
  private ErrorTranslation() {}

  /**
   * The exception to throw instead of {@code e}.
   *
   * @param path the path the operation was about, as the caller wrote it
   */
  static IOException translate(TakoException e, String path) {
    Status status = e.status();
    String message = e.getMessage() == null ? status + ": " + path : e.getMessage();
    return switch (status) {
      case NOT_FOUND -> caused(new FileNotFoundException(message), e);
      case IS_A_DIRECTORY -> caused(new FileNotFoundException(message), e);
      case ALREADY_EXISTS -> caused(new FileAlreadyExistsException(message), e);
      case NOT_A_DIRECTORY -> caused(new ParentNotDirectoryException(message), e);
      case NOT_EMPTY -> caused(new PathIsNotEmptyDirectoryException(path), e);
      case PERMISSION_DENIED -> caused(new AccessControlException(message), e);
      case INVALID_ARGUMENT -> caused(new InvalidRequestException(message), e);
      case NO_SPACE, QUOTA_EXCEEDED ->
          caused(new ClusterStorageCapacityExceededException(message), e);
      case CORRUPT -> caused(new ChecksumException(message, 0), e);
      case OK,
          LEASE_HELD,
          LEASE_LOST,
          STALE_VERSION,
          SESSION_EXPIRED,
          VERSION_MISMATCH,
          MALFORMED,
          DEADLINE_EXCEEDED,
          DISCONNECTED,
          UNAVAILABLE,
          INTERNAL,
          SAFE_MODE,
          NOT_LEADER,
          STALE_TERM,
          BUSY,
          UNSUPPORTED,
          UNRECOGNIZED ->
          e;
    };
  }

  /**
   * As {@link #translate}, of something that was only looked for: below a file there is nothing,
   * and Hadoop's {@code exists} asks for this very exception.
   */
  static IOException translateLookup(TakoException e, String path) {
    return e.status() == Status.NOT_A_DIRECTORY
        ? caused(new FileNotFoundException(e.getMessage()), e)
        : translate(e, path);
  }

  private static IOException caused(IOException exception, TakoException cause) {
    exception.initCause(cause);
    return exception;
  }
}
