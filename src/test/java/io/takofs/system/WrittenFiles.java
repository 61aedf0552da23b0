package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** The least contents of the files of a {@link WriterProcess} that is gone. */
final class WrittenFiles {
  private WrittenFiles() {}

  /** Waits until the server has closed what the writer left open. */
  static void awaitClosed(TakoClient client, String directory) throws Exception {
    Poll.until(
        "all files of the writer in " + directory + " are closed",
        Duration.ofSeconds(60),
        () -> Clients.list(client, directory).stream().noneMatch(PathStatus::underConstruction));
  }

  /**
   * Reads all files in {@code directory}: every byte is right, and nothing is missing.
   *
   * @param acknowledged path to the least length that must be there
   */
  static void check(TakoClient client, String directory, Map<String, Long> acknowledged)
      throws Exception {
    Map<String, Long> missing = new HashMap<>(acknowledged);
    for (PathStatus file : Clients.list(client, directory)) {
      byte[] content = Clients.read(client, file.path());
      Pattern.check(file.path(), content);
      Long least = missing.remove(file.path());
      assertThat((long) content.length)
          .as(file.path())
          .isEqualTo(file.length())
          .isGreaterThanOrEqualTo(least == null ? 0 : least);
    }
    assertThat(missing).as("acknowledged and not there").isEmpty();
  }
}
