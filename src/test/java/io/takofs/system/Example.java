package io.takofs.system;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.client.CreateOptions;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;

/**
 * The Java client in one page. Run it against a server of yours:
 *
 * <pre>java -cp ... io.takofs.system.Example tako://localhost:7420</pre>
 */
final class Example {
  private Example() {}

  public static void main(String[] arguments) throws IOException {
    run(URI.create(arguments[0]), System.getProperty("user.name"), System.out);
  }

  static void run(URI server, String user, PrintStream print) throws IOException {
    // Every key has a default; TakoConfig.load(path) reads a file instead.
    TakoConfig config = new TakoConfig().set("fs.tako.client.timeout", "10s");
    try (TakoClient client = TakoClient.connect(server, config, user)) {
      print.println("reached over " + client.transportVerdict());
      client.mkdirs("/example/logs");

      // A log: each flush makes what was written visible to everybody, and safe from a crash of
      // the server process.
      try (TakoOutputStream log = client.create("/example/logs/today", CreateOptions.DEFAULT)) {
        log.write("started\n".getBytes(UTF_8));
        log.hflush();
        try (TakoInputStream reader = client.open("/example/logs/today")) {
          print.print("a reader sees: " + new String(reader.readAllBytes(), UTF_8));
        }
        log.write("stopped\n".getBytes(UTF_8));
      }

      // More at the end, later.
      try (TakoOutputStream log = client.append("/example/logs/today")) {
        log.write("started again\n".getBytes(UTF_8));
      }

      // A few bytes from the middle, whatever else the stream is doing.
      try (TakoInputStream reader = client.open("/example/logs/today")) {
        byte[] word = new byte[7];
        reader.readFully(8, word, 0, word.length);
        print.println("at 8: " + new String(word, UTF_8));
      }

      // Renaming a directory costs the same whatever is in it, and is atomic.
      client.rename("/example/logs", "/example/archive", false);
      DirectoryIterator entries = client.list("/example/archive");
      while (entries.hasNext()) {
        PathStatus entry = entries.next();
        print.println(entry.path() + ": " + entry.length() + " bytes of " + entry.owner());
      }
      client.delete("/example", true);
    }
  }
}
