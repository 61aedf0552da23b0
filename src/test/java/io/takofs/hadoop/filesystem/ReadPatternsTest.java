package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TestServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any mix of reads, seeks and writes: the bytes are those of an array beside the file. */
class ReadPatternsTest {
  private static final long SEED = 20261120;
  private static final int STEPS = 4000;

  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fs = FileSystem.get(conf);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2048, 2049, 4096, 65_537, 3_000_000})
  void shouldReadTheSameBytesHoweverTheyAreRead(int length) throws IOException {
    Random random = new Random(SEED + length);
    byte[] model = new byte[length];
    random.nextBytes(model);
    Path path = new Path("/read-patterns/file-" + length);
    write(path, model, random);
    assertThat(fs.getFileStatus(path).getLen()).isEqualTo(length);
    try (FSDataInputStream in = fs.open(path, 1 << random.nextInt(18))) {
      int position = 0;
      for (int step = 0; step < STEPS; step++) {
        String what = "seed " + (SEED + length) + " step " + step + " at " + position;
        position = step(in, model, position, random, what);
        assertThat(in.getPos()).as(what).isEqualTo(position);
      }
    }
  }

  /** Bytes that a small read gathered must be dropped when a large one goes past them. */
  @Test
  void shouldSeekBackToTheRightBytesAfterALargeRead() throws IOException {
    int buffer = 4096;
    byte[] model = new byte[10 * buffer];
    new Random(SEED).nextBytes(model);
    Path path = new Path("/read-patterns/seek-back");
    write(path, model, new Random(SEED));
    try (FSDataInputStream in = fs.open(path, buffer)) {
      int position = 0;
      // Gathers a buffer and takes all of it, reads a large piece past it, looks back.
      for (int size : new int[] {100, buffer - 100, 2 * buffer}) {
        byte[] target = new byte[size];
        in.readFully(target);
        check(target, 0, size, size, model, position, "read of " + size);
        position += size;
      }
      position -= 500;
      in.seek(position);
      byte[] target = new byte[300];
      in.readFully(target);
      check(target, 0, 300, 300, model, position, "after the seek back");
    }
  }

  private void write(Path path, byte[] content, Random random) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      int written = 0;
      while (written < content.length) {
        if (random.nextInt(4) == 0) {
          out.write(content[written]);
          written++;
        } else {
          int count = Math.min(content.length - written, 1 + size(random));
          out.write(content, written, count);
          written += count;
        }
        if (random.nextInt(50) == 0) {
          out.hflush();
        }
        assertThat(out.getPos()).isEqualTo(written);
      }
    }
  }

  /** Few bytes most of the time, up to a megabyte some of the time. */
  private static int size(Random random) {
    return random.nextInt(1 << random.nextInt(21));
  }

  /** One operation; returns the position afterwards. */
  private static int step(
      FSDataInputStream in, byte[] model, int position, Random random, String what)
      throws IOException {
    int size = size(random);
    switch (random.nextInt(8)) {
      case 0 -> {
        int value = in.read();
        int expected = position < model.length ? model[position] & 0xff : -1;
        assertThat(value).as(what).isEqualTo(expected);
        return position + (value < 0 ? 0 : 1);
      }
      case 1 -> {
        byte[] target = new byte[size + 7];
        int count = in.read(target, 3, size);
        return position + check(target, 3, count, size, model, position, what);
      }
      case 2 -> {
        ByteBuffer target =
            random.nextBoolean() ? ByteBuffer.allocate(size) : ByteBuffer.allocateDirect(size);
        int count = in.read(target);
        assertThat(target.position()).as(what).isEqualTo(Math.max(count, 0));
        byte[] bytes = new byte[target.position()];
        target.flip();
        target.get(bytes);
        return position + check(bytes, 0, count, size, model, position, what);
      }
      case 3 -> {
        int target = random.nextInt(model.length + 1);
        in.seek(target);
        return target;
      }
      case 4 -> {
        int near = Math.max(0, Math.min(model.length, position + random.nextInt(8192) - 4096));
        in.seek(near);
        return near;
      }
      case 5 -> {
        int from = random.nextInt(model.length + 1);
        byte[] target = new byte[size];
        check(target, 0, in.read(from, target, 0, size), size, model, from, what);
        return position;
      }
      case 6 -> {
        int from = random.nextInt(model.length + 1);
        ByteBuffer target = ByteBuffer.allocate(Math.min(size, model.length - from));
        in.readFully(from, target);
        check(target.array(), 0, target.capacity(), size, model, from, what);
        return position;
      }
      default -> {
        if (random.nextInt(10) == 0) {
          in.unbuffer();
        }
        return position + (int) in.skip(size);
      }
    }
  }

  private static int check(
      byte[] target, int offset, int count, int asked, byte[] model, int from, String what) {
    if (asked == 0) {
      assertThat(count).as(what).isZero();
      return 0;
    }
    if (from == model.length) {
      assertThat(count).as(what).isIn(-1, 0);
      return 0;
    }
    assertThat(count).as(what).isBetween(1, Math.min(asked, model.length - from));
    boolean same = Arrays.equals(target, offset, offset + count, model, from, from + count);
    assertThat(same).as(what + ": " + count + " bytes").isTrue();
    return count;
  }
}
