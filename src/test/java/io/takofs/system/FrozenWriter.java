package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A {@link WriterProcess} that is stopped and wakes too late. */
final class FrozenWriter {
  private static final int FILE_BYTES = 700_000;

  private FrozenWriter() {}

  /** Stops the writer at a moment when it has a file open. */
  static void freezeWhileWriting(WriterProcess writer, TakoClient client, String directory)
      throws Exception {
    Signals.send(writer.pid(), "STOP");
    while (Clients.list(client, directory).stream().noneMatch(PathStatus::underConstruction)) {
      Signals.send(writer.pid(), "CONT");
      writer.awaitAcknowledgements(1);
      Signals.send(writer.pid(), "STOP");
    }
  }

  /**
   * Waits until the frozen writer's lease is recovered, gives its space to others, wakes it, and
   * checks that what it still does damages nothing.
   *
   * @param others a directory for the others' files, which remain
   */
  static void checkThatNothingIsDamagedWhenItWakes(
      WriterProcess writer, TakoClient client, String directory, String others) throws Exception {
    WrittenFiles.awaitClosed(client, directory);
    client.delete(directory, true);
    List<String> files = fill(client, others);
    Signals.send(writer.pid(), "CONT");
    writer.awaitEnd();
    checkFailure(writer);
    for (String file : files) {
      byte[] content = Clients.read(client, file);
      assertThat(content).hasSize(FILE_BYTES);
      Pattern.check(file, content);
    }
  }

  /** The writer has ended because its file was taken from it. */
  static void checkFailure(WriterProcess writer) {
    // NO_SPACE when it was frozen between two files and begins the next one.
    assertThat(writer.failure())
        .as(writer.failureText())
        .isIn("LEASE_LOST", "SESSION_EXPIRED", "NOT_FOUND", "NO_SPACE");
  }

  /** Writes files until there is no space. */
  private static List<String> fill(TakoClient client, String directory) throws IOException {
    List<String> files = new ArrayList<>();
    byte[] content = new byte[FILE_BYTES];
    client.mkdirs(directory);
    while (true) {
      String path = directory + "/f" + files.size();
      Pattern.fill(path, 0, content, content.length);
      try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
        out.write(content);
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.NO_SPACE);
        client.delete(path, false);
        return files;
      }
      files.add(path);
    }
  }
}
