package io.takofs.hadoop.internal;

import io.takofs.client.ReadRange;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;

/**
 * Vectored reads: the client reads all ranges together, and each has its future, done when the call
 * returns. A class of its own because Hadoop has ranges since 3.3.5.
 */
final class VectoredReads {
  /** Reads ranges, leaving space in a target that extends past the end of the file. */
  @FunctionalInterface
  interface Reader {
    void read(List<ReadRange> ranges) throws IOException;
  }

  /** A range that was asked for, and the buffer it is read into. */
  private record Reading(FileRange range, ByteBuffer buffer, CompletableFuture<ByteBuffer> data) {}

  private VectoredReads() {}

  /**
   * Reads {@code ranges} as Hadoop's own implementation would.
   *
   * @param release gets the buffers of ranges that could not be read
   * @return bytes read
   * @throws EOFException for a negative position, IllegalArgumentException for a negative length
   *     and for ranges that overlap; the futures report all other errors
   */
  static long read(
      Reader reader,
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws EOFException {
    Objects.requireNonNull(allocate, "no function that makes buffers");
    Objects.requireNonNull(release, "no function that takes buffers back");
    List<Reading> readings = new ArrayList<>();
    List<ReadRange> wanted = new ArrayList<>();
    for (FileRange range : sorted(ranges)) {
      CompletableFuture<ByteBuffer> data = new CompletableFuture<>();
      range.setData(data);
      ByteBuffer buffer = allocate.apply(range.getLength());
      readings.add(new Reading(range, buffer, data));
      wanted.add(
          new ReadRange(range.getOffset(), buffer.slice(buffer.position(), range.getLength())));
    }
    IOException failure = null;
    try {
      reader.read(wanted);
    } catch (IOException e) {
      failure = e;
    }
    long bytes = 0;
    for (int i = 0; i < readings.size(); i++) {
      ByteBuffer target = wanted.get(i).target();
      complete(readings.get(i), target, failure, release);
      bytes += target.position();
    }
    return bytes;
  }

  private static void complete(
      Reading reading, ByteBuffer target, IOException failure, Consumer<ByteBuffer> release) {
    if (!target.hasRemaining()) {
      ByteBuffer buffer = reading.buffer;
      reading.data.complete(buffer.limit(buffer.position() + target.capacity()));
      return;
    }
    release.accept(reading.buffer);
    reading.data.completeExceptionally(
        failure != null ? failure : new EOFException("the file ends within " + reading.range));
  }

  private static List<FileRange> sorted(List<? extends FileRange> ranges) throws EOFException {
    List<FileRange> sorted = new ArrayList<>(Objects.requireNonNull(ranges, "no list of ranges"));
    for (FileRange range : sorted) {
      Objects.requireNonNull(range, "one of the ranges is null");
      if (range.getLength() < 0) {
        throw new IllegalArgumentException("negative length in " + range);
      }
      if (range.getOffset() < 0) {
        throw new EOFException("negative position in " + range);
      }
    }
    sorted.sort(Comparator.comparingLong(FileRange::getOffset));
    for (int i = 1; i < sorted.size(); i++) {
      FileRange before = sorted.get(i - 1);
      if (sorted.get(i).getOffset() < before.getOffset() + before.getLength()) {
        throw new IllegalArgumentException(
            "overlapping ranges " + before + " and " + sorted.get(i));
      }
    }
    return sorted;
  }
}
