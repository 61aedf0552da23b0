package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Copies trees between the local file system and Tako.
 *
 * <p>Thread rule: one thread.
 */
final class Copy {
  private static final int BUFFER = 1 << 20;

  private final TakoClient client;
  private final boolean force;

  /**
   * A copier.
   *
   * @param force whether files that are there are replaced
   */
  Copy(TakoClient client, boolean force) {
    this.client = client;
    this.force = force;
  }

  /** Copies {@code local} to {@code target}, or into it when it is a directory. */
  void put(String local, String target) throws IOException {
    if (local.equals("-")) {
      putStream(System.in, "standard input", 0, target);
      return;
    }
    Path source = Path.of(local);
    if (!Files.exists(source)) {
      throw new NoSuchFileException(local);
    }
    boolean into = find(client, target).map(PathStatus::directory).orElse(false);
    putTree(
        source, into ? child(target, source.toAbsolutePath().getFileName().toString()) : target);
  }

  /** Copies {@code source} to {@code local}, or into it when it is a directory. */
  void get(String source, String local) throws IOException {
    Path target = Path.of(local);
    PathStatus status = client.getStatus(source);
    boolean into = Files.isDirectory(target) && !status.name().isEmpty();
    getTree(status, into ? target.resolve(status.name()) : target);
  }

  /** What {@code path} names, if anything. */
  static Optional<PathStatus> find(TakoClient client, String path) throws IOException {
    try {
      return Optional.of(client.getStatus(path));
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private void putTree(Path source, String target) throws IOException {
    if (!Files.isDirectory(source)) {
      try (InputStream in = Files.newInputStream(source)) {
        putStream(in, source.toString(), Files.size(source), target);
      }
      return;
    }
    client.mkdirs(target);
    try (DirectoryStream<Path> children = Files.newDirectoryStream(source)) {
      for (Path entry : children) {
        putTree(entry, child(target, entry.getFileName().toString()));
      }
    }
  }

  private void putStream(InputStream in, String name, long length, String target)
      throws IOException {
    if (!force && find(client, target).isPresent()) {
      throw new IOException(target + " exists: use -f to replace it");
    }
    // Under another name until it is whole: what is seen under its own is never half a file.
    int nameAt = target.lastIndexOf('/') + 1;
    String partial = target.substring(0, nameAt) + "." + target.substring(nameAt) + "._COPYING_";
    boolean copied = false;
    try {
      try (OutputStream out = client.create(partial, CreateOptions.DEFAULT.withOverwrite(true));
          Progress progress = new Progress(name, length)) {
        transfer(in, out, progress);
      }
      client.rename(partial, target, force);
      copied = true;
    } finally {
      if (!copied) {
        remove(partial);
      }
    }
  }

  private void remove(String partial) {
    try {
      client.delete(partial, false);
    } catch (TakoException e) {
      if (e.status() != Status.NOT_FOUND) {
        System.err.println("tako: " + partial + " is left behind: " + e.getMessage());
      }
    }
  }

  private void getTree(PathStatus source, Path target) throws IOException {
    if (!source.directory()) {
      getFile(source, target);
      return;
    }
    Files.createDirectories(target);
    DirectoryIterator entries = client.list(source.path());
    while (entries.hasNext()) {
      PathStatus entry = entries.next();
      getTree(entry, target.resolve(entry.name()));
    }
  }

  private void getFile(PathStatus source, Path target) throws IOException {
    StandardOpenOption make = force ? StandardOpenOption.CREATE : StandardOpenOption.CREATE_NEW;
    try (InputStream in = client.open(source.path());
        OutputStream out =
            Files.newOutputStream(
                target, make, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        Progress progress = new Progress(source.path(), source.length())) {
      transfer(in, out, progress);
    } catch (FileAlreadyExistsException e) {
      throw new IOException(target + " exists: use -f to replace it", e);
    }
  }

  private static void transfer(InputStream in, OutputStream out, Progress progress)
      throws IOException {
    byte[] buffer = new byte[BUFFER];
    for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
      out.write(buffer, 0, count);
      progress.add(count);
    }
  }

  private static String child(String parent, String name) {
    return parent.equals("/") ? "/" + name : parent + "/" + name;
  }
}
