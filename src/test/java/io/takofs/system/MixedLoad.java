package io.takofs.system;

import io.takofs.client.CreateOptions;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stream of random operations in a directory of its own, and what must be there after each: every
 * operation that returned has happened, and nothing else.
 *
 * <p>Thread rule: one thread.
 */
final class MixedLoad {
  private static final int FILES_MAX = 24;
  private static final int FILE_BYTES_MAX = 400_000;

  private final TakoClient client;
  private final String home;
  private final Random random;
  private final Map<String, byte[]> files = new TreeMap<>();
  private final Set<String> directories = new HashSet<>();
  private int names;
  private final AtomicLong operations = new AtomicLong();

  MixedLoad(TakoClient client, String home, long seed) throws IOException {
    this.client = client;
    this.home = home;
    this.random = new Random(seed);
    client.mkdirs(home);
  }

  long operations() {
    return operations.get();
  }

  /** How many files there are; after the last operation. */
  int files() {
    return files.size();
  }

  /** How many directories there are in its own; after the last operation. */
  int directories() {
    return directories.size();
  }

  /** Does one operation; its effect is in the model when this returns. */
  void step() throws IOException {
    operations.incrementAndGet();
    int choice = random.nextInt(100);
    if (choice < 35 || files.isEmpty()) {
      create();
    } else if (choice < 50) {
      append();
    } else if (choice < 60) {
      rename();
    } else if (choice < 70 || files.size() > FILES_MAX) {
      delete();
    } else if (choice < 75) {
      truncate();
    } else if (choice < 80) {
      makeAndRemoveDirectory();
    } else {
      verify(anyFile());
    }
  }

  /** Compares the whole directory with the model, through {@code reader}. */
  void verifyAll(TakoClient reader) throws IOException {
    Set<String> found = new HashSet<>();
    DirectoryIterator entries = reader.list(home);
    while (entries.hasNext()) {
      PathStatus entry = entries.next();
      found.add(entry.path());
    }
    Set<String> expected = new HashSet<>(files.keySet());
    expected.addAll(directories);
    if (!found.equals(expected)) {
      Set<String> extra = new HashSet<>(found);
      extra.removeAll(expected);
      expected.removeAll(found);
      throw new AssertionError(home + " lacks " + expected + " and has too much: " + extra);
    }
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      verify(reader, file.getKey(), file.getValue());
    }
  }

  private void create() throws IOException {
    boolean replace = !files.isEmpty() && random.nextInt(5) == 0;
    String path = replace ? anyFile() : home + "/f" + names++;
    byte[] content = content();
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT.withOverwrite(replace))) {
      files.put(path, new byte[0]);
      write(out, path, new byte[0], content);
    }
    files.put(path, content);
  }

  private void append() throws IOException {
    String path = anyFile();
    byte[] before = files.get(path);
    byte[] more = content();
    try (TakoOutputStream out = client.append(path)) {
      write(out, path, before, more);
    }
    files.put(path, concat(before, more, more.length));
  }

  /** Writes in pieces; what a flush returned for is visible to a reader at once. */
  private void write(TakoOutputStream out, String path, byte[] before, byte[] content)
      throws IOException {
    int position = 0;
    while (position < content.length) {
      int piece = Math.min(content.length - position, 1 + random.nextInt(60_000));
      out.write(content, position, piece);
      position += piece;
      if (random.nextInt(3) == 0) {
        out.hflush();
        byte[] flushed = concat(before, content, position);
        files.put(path, flushed);
        if (random.nextInt(4) == 0) {
          verify(client, path, flushed);
        }
      }
    }
  }

  private void rename() throws IOException {
    String source = anyFile();
    boolean replace = random.nextBoolean();
    String target = replace ? anyFile() : home + "/r" + names++;
    if (target.equals(source)) {
      return;
    }
    client.rename(source, target, replace);
    files.put(target, files.remove(source));
  }

  private void delete() throws IOException {
    String path = anyFile();
    client.delete(path, false);
    files.remove(path);
  }

  private void truncate() throws IOException {
    String path = anyFile();
    byte[] content = files.get(path);
    int length = random.nextInt(content.length + 1);
    client.truncate(path, length);
    files.put(path, Arrays.copyOf(content, length));
  }

  private void makeAndRemoveDirectory() throws IOException {
    String path = home + "/d" + names++;
    client.mkdirs(path);
    directories.add(path);
    if (random.nextBoolean()) {
      client.delete(path, true);
      directories.remove(path);
    }
  }

  private void verify(String path) throws IOException {
    verify(client, path, files.get(path));
  }

  private static void verify(TakoClient reader, String path, byte[] expected) throws IOException {
    byte[] actual;
    try (TakoInputStream in = reader.open(path)) {
      actual = in.readAllBytes();
    }
    int difference = Arrays.mismatch(actual, expected);
    if (difference >= 0) {
      throw new AssertionError(
          String.format(
              "%s has %d bytes, expected %d; they differ from byte %d",
              path, actual.length, expected.length, difference));
    }
  }

  private String anyFile() {
    List<String> paths = new ArrayList<>(files.keySet());
    return paths.get(random.nextInt(paths.size()));
  }

  /** Mostly small, sometimes over several extents. */
  private byte[] content() {
    int bound = random.nextInt(4) == 0 ? FILE_BYTES_MAX : 6_000;
    byte[] content = new byte[random.nextInt(bound)];
    random.nextBytes(content);
    return content;
  }

  private static byte[] concat(byte[] first, byte[] second, int secondLength) {
    byte[] all = Arrays.copyOf(first, first.length + secondLength);
    System.arraycopy(second, 0, all, first.length, secondLength);
    return all;
  }
}
