package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.OpenOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Joining, deleting and renaming files over any transport, and finding them by their ids. */
abstract class WholeFileTests extends FileFixture {
  WholeFileTests(String transport) {
    super(transport);
  }

  WholeFileTests(String transport, int servers) {
    super(transport, servers);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10 20",
        "0 1",
        "0 100000",
        "2000 100 2 7",
        "100000 200000",
        "70000 5 9 70000 5",
        "5 70000",
        "5 1300000 2048 2049 1048576",
        "4096 4096 8192"
      })
  void shouldConcatenate(String lengths) throws IOException {
    List<String> sources = new ArrayList<>();
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (String length : lengths.split(" ", -1)) {
      String each = sources.isEmpty() ? path : path + "-" + sources.size();
      byte[] content = random(Integer.parseInt(length), sources.size());
      try (TakoOutputStream out = client.create(each, CreateOptions.DEFAULT)) {
        out.write(content);
      }
      expected.write(content);
      sources.add(each);
    }
    client.concat(path, sources.subList(1, sources.size()));
    assertEqual(readAll(), expected.toByteArray());
    assertThat(Clients.list(client, path.substring(0, path.lastIndexOf('/')))).hasSize(1);
    byte[] more = random(10_000, 99);
    try (TakoOutputStream out = client.append(path)) {
      out.write(more);
    }
    expected.write(more);
    assertEqual(readAll(), expected.toByteArray());
    client.truncate(path, expected.size() / 2);
    assertEqual(readAll(), Arrays.copyOf(expected.toByteArray(), expected.size() / 2));
  }

  @Test
  void shouldConcatenateMoreThanOneRequestCanName() throws IOException {
    client.create(path, CreateOptions.DEFAULT).close();
    List<String> sources = new ArrayList<>();
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (int i = 0; i < 150; i++) {
      byte[] content = random(i % 10 == 0 ? 70_000 : 1 + i, i);
      sources.add(path + "-" + "x".repeat(50) + i);
      try (TakoOutputStream out = client.create(sources.get(i), CreateOptions.DEFAULT)) {
        out.write(content);
      }
      expected.write(content);
    }
    client.concat(path, sources);
    assertEqual(readAll(), expected.toByteArray());
    assertThat(client.getStatus(path).underConstruction()).isFalse();
  }

  @Test
  void shouldOpenByIdWhateverTheName() throws IOException {
    byte[] content = random(300_000, 3);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    PathStatus seen = client.getStatus(path);
    String directory = path.substring(0, path.lastIndexOf('/'));
    client.rename(directory, directory + "-moved", false);
    client.rename(directory + "-moved/file", "/moved", false);
    try (TakoInputStream in = client.openById(path, seen.parentId(), seen.id())) {
      assertThat(in.fileId()).isEqualTo(seen.id());
      assertThat(in.fileVersion()).isEqualTo(seen.version());
      assertEqual(in.readAllBytes(), content);
    }
    client.delete("/moved", false);
    client.delete(directory + "-moved", true);
    client.mkdirs(directory);
    assertStatus(() -> client.openById(path, seen.parentId(), seen.id()), Status.NOT_FOUND);
  }

  @Test
  void shouldReadOnWhenADirectoryAboveIsRenamed() throws IOException {
    byte[] content = random(3 << 20, 4);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    String directory = path.substring(0, path.lastIndexOf('/'));
    // The reader knows the last extent, and has to ask for the first when the path is gone.
    try (TakoInputStream in =
        client.open(path, OpenOptions.DEFAULT.withStart(content.length - 1))) {
      client.rename(directory, directory + "-moved", false);
      assertEqual(in.readAllBytes(), content);
    }
    client.delete(directory + "-moved", true);
    client.mkdirs(directory);
  }

  @Test
  void shouldDeleteManyFiles() throws IOException {
    String directory = path.substring(0, path.lastIndexOf('/'));
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      names.add("some-longer-name-so-that-one-request-cannot-hold-them-" + i);
      client.create(directory + "/" + names.get(i), CreateOptions.DEFAULT).close();
    }
    client.mkdirs(directory + "/full/x");
    names.add(300, "full");
    assertThat(client.deleteFiles(directory, names)).isEqualTo(Map.of("full", Status.NOT_EMPTY));
    assertThat(Clients.list(client, directory)).hasSize(1);
  }

  @Test
  void shouldDeleteAPageWithOneCall() throws IOException {
    String directory = path.substring(0, path.lastIndexOf('/'));
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      names.add("part-%05d-0c6f1d2e-77aa-4f43-9d0b-5f6c9e6d9f10-c000.snappy.parquet".formatted(i));
      client.create(directory + "/" + names.get(i), CreateOptions.DEFAULT).close();
    }
    long before = callsToDeleteFiles();
    assertThat(client.deleteFiles(directory, names)).isEmpty();
    assertThat(callsToDeleteFiles()).isEqualTo(before + 1);
    assertThat(Clients.list(client, directory)).isEmpty();
  }

  private long callsToDeleteFiles() throws IOException {
    return client.serverStatus().getOperationsList().stream()
        .filter(operation -> operation.getOperation().equals("delete_files"))
        .mapToLong(OperationStatus::getCalls)
        .sum();
  }

  @Test
  void shouldLeaveATargetClosedThatNothingCouldBeJoinedTo() throws IOException {
    client.create(path, CreateOptions.DEFAULT).close();
    client.create(path + "-empty", CreateOptions.DEFAULT).close();
    assertStatus(() -> client.concat(path, List.of(path + "-empty")), Status.INVALID_ARGUMENT);
    assertStatus(() -> client.concat(path, List.of(path + "-none")), Status.NOT_FOUND);
    assertThat(client.getStatus(path).underConstruction()).isFalse();
  }
}
