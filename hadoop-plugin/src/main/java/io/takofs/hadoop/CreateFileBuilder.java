package io.takofs.hadoop;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;

/**
 * What {@code createFile} and {@code appendFile} build: with {@link #EXPECTED_LENGTH}, a file whose
 * space comes with it.
 */
final class CreateFileBuilder
    extends FSDataOutputStreamBuilder<FSDataOutputStream, CreateFileBuilder> {
  /** Bytes that will probably be written. */
  static final String EXPECTED_LENGTH = "fs.tako.create.expected.length";

  private final TakoFileSystem fs;

  CreateFileBuilder(TakoFileSystem fs, Path path) {
    super(fs, path);
    this.fs = fs;
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
    return fs.create(
        getPath(),
        getPermission(),
        flags,
        isRecursive(),
        getReplication(),
        getBlockSize(),
        getOptions().getLong(EXPECTED_LENGTH, 0));
  }
}
