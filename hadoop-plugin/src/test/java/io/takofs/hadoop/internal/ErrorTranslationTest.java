package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.ClusterStorageCapacityExceededException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.InvalidRequestException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ErrorTranslationTest {
  private static final Map<Status, Class<? extends IOException>> HADOOP_TYPES =
      new EnumMap<>(Status.class);

  static {
    HADOOP_TYPES.put(Status.NOT_FOUND, FileNotFoundException.class);
    HADOOP_TYPES.put(Status.IS_A_DIRECTORY, FileNotFoundException.class);
    HADOOP_TYPES.put(Status.ALREADY_EXISTS, FileAlreadyExistsException.class);
    HADOOP_TYPES.put(Status.NOT_A_DIRECTORY, ParentNotDirectoryException.class);
    HADOOP_TYPES.put(Status.NOT_EMPTY, PathIsNotEmptyDirectoryException.class);
    HADOOP_TYPES.put(Status.PERMISSION_DENIED, AccessControlException.class);
    HADOOP_TYPES.put(Status.INVALID_ARGUMENT, InvalidRequestException.class);
    HADOOP_TYPES.put(Status.NO_SPACE, ClusterStorageCapacityExceededException.class);
    HADOOP_TYPES.put(Status.QUOTA_EXCEEDED, ClusterStorageCapacityExceededException.class);
    HADOOP_TYPES.put(Status.CORRUPT, ChecksumException.class);
  }

  @ParameterizedTest
  @EnumSource(Status.class)
  void shouldGiveTheTypeHadoopBranchesOn(Status status) {
    TakoException cause = new TakoException(status, "what went wrong with /a");
    IOException translated = ErrorTranslation.translate(cause, "/a");
    assertThat(translated)
        .isExactlyInstanceOf(HADOOP_TYPES.getOrDefault(status, TakoException.class));
    assertThat(translated == cause || translated.getCause() == cause).isTrue();
    assertThat(translated.getMessage()).contains("/a");
  }

  @Test
  void shouldFindNothingBelowAFile() {
    TakoException cause = new TakoException(Status.NOT_A_DIRECTORY, "/a is a file");
    assertThat(ErrorTranslation.translateLookup(cause, "/a/b"))
        .isInstanceOf(FileNotFoundException.class)
        .hasCause(cause);
    TakoException other = new TakoException(Status.PERMISSION_DENIED, "/a is not yours");
    assertThat(ErrorTranslation.translateLookup(other, "/a"))
        .isInstanceOf(AccessControlException.class);
  }
}
