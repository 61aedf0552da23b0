package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/**
 * One file under random operations, compared with an array at every step.
 *
 * <p>Thread rule: one thread.
 */
final class RandomFile {
  private final TakoClient client;
  private final String path;
  private final long seed;
  private final Random random;
  private final byte[] model;
  private int written;
  private int committed;
  private TakoOutputStream out;
  private TakoInputStream in;

  /** A file that never gets longer than {@code maxLength}. */
  RandomFile(TakoClient client, String path, long seed, int maxLength) {
    this.client = client;
    this.path = path;
    this.seed = seed;
    this.random = new Random(seed);
    this.model = new byte[maxLength];
  }

  /** Does {@code steps} random operations and checks the whole at the end. */
  void run(int steps) throws IOException {
    out = client.create(path, CreateOptions.DEFAULT.withOverwrite(true));
    in = client.open(path);
    for (int step = 0; step < steps; step++) {
      try {
        step();
      } catch (IOException | AssertionError e) {
        throw new AssertionError("seed " + seed + " step " + step + ": " + e.getMessage(), e);
      }
    }
    closeWriter();
    in.close();
    try (TakoInputStream whole = client.open(path)) {
      assertEqual(whole.readAllBytes(), Arrays.copyOf(model, written));
    }
  }

  private void step() throws IOException {
    int choice = random.nextInt(100);
    if (choice < 35) {
      write();
    } else if (choice < 50) {
      flush();
    } else if (choice < 65) {
      readAt();
    } else if (choice < 85) {
      readOn();
    } else if (choice < 92) {
      reopenWriter();
    } else if (choice < 96) {
      truncate();
    } else {
      in.close();
      in = client.open(path);
      assertThat(in.length()).isBetween((long) committed, (long) written);
    }
  }

  private int randomLength() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(10);
      case 1 -> random.nextInt(5000);
      case 2 -> 4096 * random.nextInt(20);
      default -> random.nextInt(200000);
    };
  }

  private void write() throws IOException {
    int count = Math.min(randomLength(), model.length - written);
    byte[] bytes = new byte[count + 5];
    random.nextBytes(bytes);
    System.arraycopy(bytes, 3, model, written, count);
    if (random.nextBoolean()) {
      out.write(bytes, 3, count);
    } else {
      ByteBuffer direct = ByteBuffer.allocateDirect(count);
      direct.put(bytes, 3, count).flip();
      out.write(direct);
      assertThat(direct.remaining()).isEqualTo(0);
    }
    written += count;
    assertThat(out.getPos()).isEqualTo(written);
  }

  private void flush() throws IOException {
    if (random.nextBoolean()) {
      out.hflush();
    } else {
      out.hsync();
    }
    committed = written;
  }

  /** Random positions: everything committed must be there, nothing more than was written. */
  private void readAt() throws IOException {
    int position = random.nextInt(written + 10);
    byte[] target = new byte[randomLength() + 1];
    int count = in.read(position, target, 0, target.length);
    checkRead(position, target, count);
  }

  private void readOn() throws IOException {
    if (random.nextInt(3) == 0 && in.length() > 0) {
      in.seek(random.nextInt((int) in.length()));
    }
    int position = (int) in.getPos();
    byte[] target = new byte[randomLength() + 1];
    ByteBuffer direct = ByteBuffer.allocateDirect(target.length);
    int count = in.read(direct);
    direct.flip().get(target, 0, Math.max(count, 0));
    checkRead(position, target, count);
    assertThat(in.getPos()).isEqualTo(position + Math.max(count, 0));
  }

  private void checkRead(int position, byte[] target, int count) {
    int least = Math.min(target.length, Math.max(0, committed - position));
    assertThat(Math.max(count, 0)).isBetween(least, target.length);
    if (count > 0) {
      assertThat(position + count).isLessThanOrEqualTo(written);
      assertEqual(
          Arrays.copyOf(target, count), Arrays.copyOfRange(model, position, position + count));
    } else {
      assertThat(least).isEqualTo(0);
    }
  }

  private void closeWriter() throws IOException {
    out.close();
    committed = written;
  }

  private void reopenWriter() throws IOException {
    closeWriter();
    out = client.append(path);
    reopenReader();
  }

  private void truncate() throws IOException {
    closeWriter();
    int length = random.nextInt(written + 1);
    client.truncate(path, length);
    Arrays.fill(model, length, written, (byte) 0);
    written = length;
    committed = length;
    out = client.append(path);
    reopenReader();
  }

  /** A reader sees what is appended later only if the file was being written when it looked. */
  private void reopenReader() throws IOException {
    in.close();
    in = client.open(path);
  }

  private static void assertEqual(byte[] actual, byte[] expected) {
    assertThat(actual.length).isEqualTo(expected.length);
    assertThat(Arrays.mismatch(actual, expected)).describedAs("first difference").isEqualTo(-1);
  }
}
