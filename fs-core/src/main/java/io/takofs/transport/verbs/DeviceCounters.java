package io.takofs.transport.verbs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Counters that the driver of a device keeps for one of its ports, in sysfs. Not every driver does,
 * and each has names of its own.
 *
 * <p>Thread rule: any thread.
 */
final class DeviceCounters {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  private final Path directory;

  DeviceCounters(DeviceFacts port) {
    this(
        DEVICES
            .resolve(port.device())
            .resolve("ports")
            .resolve(Integer.toString(port.port()))
            .resolve("hw_counters"));
  }

  DeviceCounters(Path directory) {
    this.directory = directory;
  }

  /**
   * Counters of messages that found no receive posted, by the driver's names: {@code rcvd_rnr_err},
   * {@code rnr_nak_retry_err}, {@code out_of_buffer}. Empty where the driver has none. They are
   * those of the whole port, whoever uses it.
   */
  Map<String, Long> receiverNotReady() {
    Map<String, Long> values = new HashMap<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(directory, DeviceCounters::isReceiverNotReady)) {
      for (Path file : files) {
        values.put(file.getFileName().toString(), Long.parseLong(Files.readString(file).strip()));
      }
    } catch (IOException | NumberFormatException e) {
      // A driver that does not count, or not any more: the counters read so far are the result.
      return values;
    }
    return values;
  }

  private static boolean isReceiverNotReady(Path file) {
    String name = file.getFileName().toString();
    return name.contains("rnr") || name.equals("out_of_buffer");
  }
}
