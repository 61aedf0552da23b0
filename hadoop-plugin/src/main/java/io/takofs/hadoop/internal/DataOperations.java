package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.OpenOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.Closeable;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.CompositeCrcFileChecksum;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.DataChecksum;

/**
 * Files' bytes: open, create, append, truncate, checksum. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class DataOperations implements Closeable {
  private static final int CHECKSUM_BUFFER_BYTES = 1 << 20;

  /** Bytes a CRC covers: the checksum reports the figure, and readers do not use it. */
  private static final int BYTES_PER_CRC = 4096;

  /** A granule: less would be verified again and again. */
  private static final int READ_BUFFER_BYTES_MIN = 4096;

  private final TakoClient client;
  private final FileSystem.Statistics statistics;
  private final Set<TakoOutput> beingWritten = ConcurrentHashMap.newKeySet();

  DataOperations(TakoClient client, FileSystem.Statistics statistics) {
    this.client = client;
    this.statistics = statistics;
  }

  /** Opens in one call, which a status that the caller already has could not save. */
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return open(path, bufferSize, OpenOptions.DEFAULT);
  }

  /** As {@link #open(Path, int)}, for a caller that knows how the file will be read. */
  public FSDataInputStream open(Path path, int bufferSize, OpenOptions options) throws IOException {
    return wrap(path, Call.to(path, name -> client.open(name, options)), bufferSize);
  }

  /** An open file as Hadoop reads it; {@code path} is for messages. */
  FSDataInputStream wrap(Path path, TakoInputStream in, int bufferSize) {
    int buffered = Math.max(bufferSize, READ_BUFFER_BYTES_MIN);
    return new FSDataInputStream(new TakoInput(in, buffered, path, statistics));
  }

  /** Creates, replaces or appends to a file, as {@code flags} say. */
  public FSDataOutputStream create(Path path, EnumSet<CreateFlag> flags, CreateOptions options)
      throws IOException {
    CreateFlag.validate(flags);
    if (flags.contains(CreateFlag.APPEND)) {
      return appendOrCreate(path, flags.contains(CreateFlag.CREATE), options);
    }
    if (!flags.contains(CreateFlag.CREATE)) {
      // To replace only: there must be something.
      Call.to(path, client::getStatus);
    }
    return create(path, options.withOverwrite(flags.contains(CreateFlag.OVERWRITE)));
  }

  private FSDataOutputStream appendOrCreate(Path path, boolean create, CreateOptions options)
      throws IOException {
    String name = PathNames.of(path);
    try {
      return wrap(path, client.append(name));
    } catch (TakoException e) {
      if (create && e.status() == Status.NOT_FOUND) {
        return create(path, options.withOverwrite(false));
      }
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  private FSDataOutputStream create(Path path, CreateOptions options) throws IOException {
    String name = PathNames.of(path);
    try {
      return wrap(path, client.create(name, options));
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  public FSDataOutputStream append(Path path) throws IOException {
    return wrap(path, Call.to(path, client::append));
  }

  private FSDataOutputStream wrap(Path path, TakoOutputStream out) throws IOException {
    TakoOutput output = new TakoOutput(out, path, beingWritten::remove);
    beingWritten.add(output);
    return new FSDataOutputStream(output, statistics, out.getPos());
  }

  public void truncate(Path path, long length) throws IOException {
    if (length < 0) {
      throw new IllegalArgumentException(path + ": cannot be cut to " + length + " bytes");
    }
    Call.to(
        path,
        name -> {
          client.truncate(name, length);
          return null;
        });
  }

  /** Moves the data of {@code sources} to the end of {@code target}. */
  public void concat(Path target, List<Path> sources) throws IOException {
    List<String> names = sources.stream().map(PathNames::of).toList();
    Call.to(
        target,
        name -> {
          client.concat(name, names);
          return null;
        });
  }

  /**
   * CRC32C of the first {@code length} bytes, in the form that does not depend on how a file is cut
   * into blocks: HDFS gives the same when {@code dfs.checksum.combine.mode} is COMPOSITE_CRC.
   */
  public FileChecksum checksum(Path path, long length) throws IOException {
    CRC32C crc = new CRC32C();
    byte[] buffer = new byte[CHECKSUM_BUFFER_BYTES];
    try (FSDataInputStream in = open(path, CHECKSUM_BUFFER_BYTES)) {
      long left = length;
      while (left > 0) {
        int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (count < 0) {
          break;
        }
        crc.update(buffer, 0, count);
        left -= count;
      }
    }
    return new CompositeCrcFileChecksum(
        (int) crc.getValue(), DataChecksum.Type.CRC32C, BYTES_PER_CRC);
  }

  /** Closes the files that are still being written; the first failure is thrown at the end. */
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (TakoOutput output : beingWritten) {
      try {
        output.close();
      } catch (IOException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
