package io.takofs.system;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.config.TakoConfig;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * A writer to be killed: writes files of {@link Pattern} bytes without end and says on standard
 * output, after each call that returned, what must not be lost: {@code flushed PATH LENGTH}, {@code
 * closed PATH LENGTH}, and {@code failed STATUS} when it was told to stop.
 */
public final class WriterMain {
  private static final int FILE_BYTES_MAX = 3_000_000;
  private static final int PIECE_MAX = 100_000;

  private WriterMain() {}

  /** Arguments: URI, transport, directory, seed. */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Random random = new Random(Long.parseLong(arguments[3]));
    TakoConfig config = new TakoConfig().set("fs.tako.transport", arguments[1]);
    try (TakoClient client =
        TakoClient.connect(URI.create(arguments[0]), config, System.getProperty("user.name"))) {
      client.mkdirs(arguments[2]);
      for (int number = 0; ; number++) {
        write(client, arguments[2] + "/f" + number, random, out);
      }
    } catch (TakoException e) {
      out.println("failed " + e.status());
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
