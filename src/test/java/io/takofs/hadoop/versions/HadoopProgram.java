package io.takofs.hadoop.versions;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;

/**
 * An application's use of files, for a Hadoop of any version: methods that the oldest lacks are
 * called through reflection. Prints the interfaces and classes of newer versions that it used.
 */
public final class HadoopProgram {
  private static final int SIZE = 200_000;
  private static final String HADOOP = "org.apache.hadoop.fs.";

  private final Configuration conf;
  private final FileContext context;
  private final FileSystem fs;
  private final Path directory;
  private final byte[] content = new byte[SIZE];

  private HadoopProgram(URI uri, String transport) throws IOException {
    conf = new Configuration();
    conf.set("fs.defaultFS", uri.toString());
    conf.set("fs.tako.transport", transport);
    conf.set("fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs");
    // Before any FileSystem: either way alone has to load what this Hadoop can.
    context = FileContext.getFileContext(conf);
    check(context.util().exists(new Path("/")), "no root");
    fs = FileSystem.get(conf);
    directory = new Path("/versions");
    new Random(1).nextBytes(content);
  }

  /** URI of the server, transport. */
  public static void main(String[] args) throws Exception {
    HadoopProgram program = new HadoopProgram(URI.create(args[0]), args[1]);
    program.useFiles();
    program.useFileContext();
    program.readVectored();
    program.recoverLease();
    program.askForSafeMode();
    program.deleteInBulk();
    program.lookAtEveryMethod();
    program.fs.close();
  }

  private void useFiles() throws Exception {
    fs.delete(directory, true);
    Path written = new Path(directory, "written");
    try (FSDataOutputStream out = fs.create(written)) {
      out.write(content, 0, SIZE / 2);
      out.hflush();
    }
    try (FSDataOutputStream out = fs.append(written)) {
      out.write(content, SIZE / 2, SIZE / 2);
    }
    Path renamed = new Path(directory, "file");
    check(fs.rename(written, renamed), "not renamed");
    check(fs.listStatus(directory).length == 1, "another listing");
    check(fs.getFileStatus(renamed).getLen() == SIZE, "another length");
    check(Arrays.equals(read(fs.open(renamed)), content), "other bytes");
    check(fs.getFileBlockLocations(renamed, 0, SIZE).length > 0, "no locations");
    FutureDataInputStreamBuilder opening = fs.openFile(renamed);
    opening.opt("fs.option.openfile.read.policy", "whole-file");
    check(Arrays.equals(read(opening.build().get()), content), "other bytes by a builder");
    FSDataOutputStreamBuilder<?, ?> creating = fs.createFile(written);
    creating.must("fs.tako.create.expected.length", SIZE);
    creating.build().close();
    check(fs.delete(written, false), "not deleted");
  }

  private void useFileContext() throws IOException {
    check(
        Arrays.equals(read(context.open(new Path(directory, "file"))), content),
        "other bytes through FileContext");
  }

  private byte[] read(FSDataInputStream stream) throws IOException {
    try (FSDataInputStream in = stream) {
      byte[] bytes = new byte[SIZE];
      in.readFully(bytes);
      check(in.read() < 0, "more bytes");
      return bytes;
    }
  }

  private void readVectored() throws Exception {
    Class<?> fileRange = find("FileRange");
    if (fileRange == null) {
      return;
    }
    Method make = fileRange.getMethod("createFileRange", long.class, int.class);
    List<Object> ranges = List.of(make.invoke(null, 10L, 5000), make.invoke(null, 150_000L, 50));
    IntFunction<ByteBuffer> allocate = ByteBuffer::allocate;
    try (FSDataInputStream in = fs.open(new Path(directory, "file"))) {
      in.getClass()
          .getMethod("readVectored", List.class, IntFunction.class)
          .invoke(in, ranges, allocate);
      for (Object range : ranges) {
        ByteBuffer data =
            (ByteBuffer) ((CompletableFuture<?>) call(fileRange, range, "getData")).get();
        int offset = ((Number) call(fileRange, range, "getOffset")).intValue();
        int length = (int) call(fileRange, range, "getLength");
        check(
            data.equals(ByteBuffer.wrap(content, offset, length)),
            "other bytes in a vectored read");
      }
    }
  }

  private void recoverLease() throws Exception {
    Class<?> recoverable = find("LeaseRecoverable");
    if (recoverable == null) {
      return;
    }
    check(recoverable.isInstance(fs), "leases cannot be recovered");
    Path open = new Path(directory, "open");
    try (FileSystem other = FileSystem.newInstance(conf)) {
      FSDataOutputStream out = other.create(open);
      out.write(content, 0, 1000);
      out.hflush();
      check(!isClosed(recoverable, open), "closed while it is written");
      boolean recovered =
          (boolean) recoverable.getMethod("recoverLease", Path.class).invoke(fs, open);
      check(recovered && isClosed(recoverable, open), "not recovered");
      try {
        out.close();
      } catch (IOException e) {
        // It has lost its lease, and may find out by now.
        check(fs.getFileStatus(open).getLen() == 1000, "another length after recovery");
      }
    }
  }

  private boolean isClosed(Class<?> recoverable, Path path) throws Exception {
    return (boolean) recoverable.getMethod("isFileClosed", Path.class).invoke(fs, path);
  }

  private void askForSafeMode() throws Exception {
    Class<?> safeMode = find("SafeMode");
    if (safeMode != null) {
      Class<?> action = Class.forName(HADOOP + "SafeModeAction");
      Object get = action.getMethod("valueOf", String.class).invoke(null, "GET");
      Object on = safeMode.getMethod("setSafeMode", action).invoke(fs, get);
      check(on.equals(false), "in safe mode");
    }
  }

  private void deleteInBulk() throws Exception {
    Class<?> source = find("BulkDeleteSource");
    if (source != null) {
      Path file = new Path(directory, "to-be-deleted");
      fs.create(file).close();
      Class<?> bulkDelete = Class.forName(HADOOP + "BulkDelete");
      Object bulk = source.getMethod("createBulkDelete", Path.class).invoke(fs, directory);
      check((int) call(bulkDelete, bulk, "pageSize") > 1, "not in bulk");
      Object failed =
          bulkDelete
              .getMethod("bulkDelete", Collection.class)
              .invoke(bulk, List.of(fs.makeQualified(file)));
      check(((List<?>) failed).isEmpty() && !fs.exists(file), "not deleted");
    }
  }

  /** As HBase does, which looks for methods by name: one of unknown types would fail it. */
  private void lookAtEveryMethod() throws IOException {
    check(fs.getClass().getName().endsWith(".TakoFileSystem"), "another class: " + fs.getClass());
    check(fs.getClass().getMethods().length > 0, "no methods");
    try (FSDataInputStream in = fs.open(new Path(directory, "file"))) {
      check(in.getWrappedStream().getClass().getMethods().length > 0, "no methods of a stream");
    }
  }

  private static Object call(Class<?> type, Object object, String method) throws Exception {
    return type.getMethod(method).invoke(object);
  }

  /** A class that only newer versions of Hadoop have, or null. */
  private static Class<?> find(String name) {
    try {
      Class<?> found = Class.forName(HADOOP + name);
      System.out.println("used " + name);
      return found;
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }
}
