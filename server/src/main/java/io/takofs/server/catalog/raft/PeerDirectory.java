package io.takofs.server.catalog.raft;

import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory of a peer of the catalog, on a disk: who the peer is, and its log. The peer's id is
 * drawn at random when the directory is made. So a peer that has lost its directory, and with it
 * its votes, is another peer: it cannot vote again in a term in which it has voted.
 *
 * <p>Thread rule: one thread.
 */
final class PeerDirectory implements AutoCloseable {
  private static final String NONE = "-";

  private final Path directory;
  private final Path file;
  private final FileChannel lock; // held until the peer ends
  private Identity identity;

  /**
   * The text of the file: a line each.
   *
   * @param id of the peer
   * @param catalog of which it is a peer; {@link #NONE} for none
   * @param state how it came to that
   */
  private record Identity(String id, String catalog, State state) {}

  /** How the peer came to its catalog. */
  enum State {
    /** It is a peer of none. */
    NEW,
    /** It is about to begin a catalog, alone. */
    FOUNDING,
    /** It has begun it: there is a log, without which it must not go on under this id. */
    FOUNDED,
    /** The leader of a catalog is about to take it in. */
    JOINING,
    /** It has been taken in: there is a log, as above. */
    JOINED
  }

  private PeerDirectory(Path directory, FileChannel lock) {
    this.directory = directory;
    this.file = directory.resolve("peer");
    this.lock = lock;
  }

  /**
   * The directory at {@code path}, which is made if there is none.
   *
   * @throws IOException when it cannot be used, or has lost a part
   */
  static PeerDirectory open(Path path, SecureRandom random) throws IOException {
    Ownership.makePrivateDirectory(path);
    Path directory = path.toAbsolutePath();
    try (Undo undo = new Undo()) {
      PeerDirectory opened = new PeerDirectory(directory, undo.add(lock(directory)));
      if (Files.exists(opened.file)) {
        opened.identity = opened.read();
        opened.requireLog();
      } else {
        byte[] id = new byte[8];
        random.nextBytes(id);
        opened.write(new Identity(HexFormat.of().formatHex(id), NONE, State.NEW));
      }
      undo.keep();
      return opened;
    }
  }

  /** Two peers with one directory would be one peer that votes twice. */
  private static FileChannel lock(Path directory) throws IOException {
    try (Undo undo = new Undo()) {
      FileChannel channel =
          undo.add(
              FileChannel.open(
                  directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE));
      if (!isLocked(channel)) {
        throw new TakoException(
            Status.BUSY,
            "%s is the directory of another server that keeps the catalog, which runs: give each server of this machine a %s or a %s of its own"
                .formatted(
                    directory, ConfigKeys.STATE_DIR.name(), ConfigKeys.CATALOG_LOG_DIR.name()));
      }
      undo.keep();
      return channel;
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) { // by another server in this process
      return false;
    }
  }

  /** Lets another process use the directory. */
  @Override
  public void close() throws IOException {
    lock.close();
  }

  private Identity read() throws IOException {
    List<String> lines = Files.readAllLines(file);
    try {
      return new Identity(lines.get(0), lines.get(1), State.valueOf(lines.get(2)));
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new TakoException(
          Status.CORRUPT,
          file
              + " does not say which peer of the catalog this is: move "
              + directory
              + " away; the peer is a new one then, and the others take it in",
          e);
    }
  }

  private void requireLog() throws TakoException {
    if ((identity.state == State.FOUNDED || identity.state == State.JOINED) && !hasLog()) {
      throw new TakoException(
          Status.CORRUPT,
          directory
              + " has lost its log ("
              + log().resolve(identity.catalog)
              + "): move all of it away; the peer is a new one then, and the others take it in");
    }
  }

  /** Whether there is a log that was in use. */
  boolean hasLog() {
    return Files.exists(log().resolve(identity.catalog).resolve("current").resolve("raft-meta"));
  }

  /** Id of the peer. */
  String id() {
    return identity.id;
  }

  /** The catalog of which it is a peer; empty while it is of none. */
  String catalog() {
    return identity.catalog.equals(NONE) ? "" : identity.catalog;
  }

  /** Whether this peer began the catalog, alone. */
  boolean isFounder() {
    return identity.state == State.FOUNDING || identity.state == State.FOUNDED;
  }

  /** The directory of the log, which is named after the catalog. */
  Path log() {
    return directory.resolve("log");
  }

  Path path() {
    return directory;
  }

  /**
   * Removes what a start that was killed has left of a log that was never in use, because Ratis
   * makes none where something is.
   */
  void removeBeginning() throws IOException {
    Path beginning = log().resolve(identity.catalog);
    if (hasLog() || !Files.exists(beginning)) {
      return;
    }
    try (Stream<Path> files = Files.walk(beginning)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Writes down, durably, that the peer begins {@code catalog}. */
  void found(String catalog) throws IOException {
    write(new Identity(identity.id, catalog, State.FOUNDING));
  }

  /** Writes down, durably, that the peer becomes one of {@code catalog}. */
  void join(String catalog) throws IOException {
    write(new Identity(identity.id, catalog, State.JOINING));
  }

  /** Writes down that there is a log. */
  void started() throws IOException {
    State next = isFounder() ? State.FOUNDED : State.JOINED;
    if (identity.state != next) {
      write(new Identity(identity.id, identity.catalog, next));
    }
  }

  private void write(Identity next) throws IOException {
    Path part = file.resolveSibling("peer.part");
    String text = String.join("\n", next.id, next.catalog, next.state.name(), "");
    try (FileChannel channel =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      channel.write(StandardCharsets.US_ASCII.encode(text));
      channel.force(true);
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
      entries.force(true);
    }
    identity = next;
  }
}
