package io.takofs.hadoop.internal;

import io.takofs.client.CreateOptions;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The builder of {@code createFile} and {@code appendFile}. With {@link #EXPECTED_LENGTH}, the call
 * that creates the file also grants its space.
 */
public final class CreateFileBuilder
    extends FSDataOutputStreamBuilder<FSDataOutputStream, CreateFileBuilder> {
  /** Bytes that will probably be written. */
  static final String EXPECTED_LENGTH = "fs.tako.create.expected.length";

  private final Creator creator;

  /** Creates, replaces or appends to a file, as the flags say. */
  @FunctionalInterface
  public interface Creator {
    /**
     * Opens the file for writing.
     *
     * @param permission before the umask
     * @param options without a permission
     */
    FSDataOutputStream create(
        Path path, FsPermission permission, EnumSet<CreateFlag> flags, CreateOptions options)
        throws IOException;
  }

  /** A builder for a file of {@code fs}, whose defaults count, that {@code creator} creates. */
  public CreateFileBuilder(FileSystem fs, Path path, Creator creator) {
    super(fs, path);
    this.creator = creator;
  }

  @Override
  public CreateFileBuilder getThisBuilder() {
    return this;
  }

  @Override
  public FSDataOutputStream build() throws IOException {
    rejectUnknownMandatoryKeys(Set.of(EXPECTED_LENGTH), "for " + getPath());
    EnumSet<CreateFlag> flags = getFlags();
    if (!flags.contains(CreateFlag.CREATE)
        && !flags.contains(CreateFlag.OVERWRITE)
        && !flags.contains(CreateFlag.APPEND)) {
      throw new PathIOException(getPath().toString(), "say whether to create, overwrite or append");
    }
    CreateOptions options =
        CreateModes.options(isRecursive(), getReplication(), getBlockSize())
            .withExpectedLength(getOptions().getLong(EXPECTED_LENGTH, 0));
    return creator.create(getPath(), getPermission(), flags, options);
  }
}
