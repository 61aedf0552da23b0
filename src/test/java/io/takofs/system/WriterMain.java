package io.takofs.system;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * A writer to be disturbed: writes files of {@link Pattern} bytes, one after the other, and says,
 * after each call that returned, what must not be lost: {@code flushed PATH LENGTH}, {@code closed
 * PATH LENGTH}, and {@code failed STATUS REASON} when it was told to stop.
 */
public final class WriterMain {
  private static final int FILE_BYTES_MAX = 3_000_000;
  private static final int PIECE_MAX = 100_000;

  private WriterMain() {}

  /**
   * Writes until it is killed. Arguments: URI, transport, directory, seed, keys and values of the
   * client's configuration.
   */
  public static void main(String[] arguments) {
    write(
        URI.create(arguments[0]),
        arguments[1],
        arguments[2],
        Long.parseLong(arguments[3]),
        Arrays.copyOfRange(arguments, 4, arguments.length),
        () -> false,
        new PrintStream(System.out, true, StandardCharsets.UTF_8));
  }

  /** Writes until {@code stop} holds, or something fails. */
  static void write(
      URI server,
      String transport,
      String directory,
      long seed,
      String[] keysAndValues,
      BooleanSupplier stop,
      PrintStream out) {
    Random random = new Random(seed);
    try (TakoClient client = Clients.connect(server, transport, keysAndValues)) {
      client.mkdirs(directory);
      for (int number = 0; !stop.getAsBoolean(); number++) {
        write(client, directory + "/f" + number, random, out);
      }
    } catch (TakoException e) {
      out.println("failed " + e.status() + " " + e.getMessage());
    } catch (IOException e) {
      out.println("failed IOException " + e.getMessage());
    }
  }

  private static void write(TakoClient client, String path, Random random, PrintStream out)
      throws TakoException {
    byte[] piece = new byte[PIECE_MAX];
    long length = 0;
    long end = random.nextInt(FILE_BYTES_MAX);
    try (TakoOutputStream stream = client.create(path, CreateOptions.DEFAULT)) {
      while (length < end) {
        int count = 1 + random.nextInt(PIECE_MAX);
        Pattern.fill(path, length, piece, count);
        stream.write(piece, 0, count);
        length += count;
        if (random.nextInt(4) == 0) {
          stream.hflush();
          out.println("flushed " + path + " " + length);
        }
      }
    }
    out.println("closed " + path + " " + length);
  }
}
