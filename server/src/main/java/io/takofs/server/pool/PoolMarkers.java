package io.takofs.server.pool;

import io.takofs.base.Clock;
import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * The markers of the pools that servers of this user have had, a file each, in a directory on a
 * disk. They tell a pool that has vanished from one that never was.
 *
 * <p>Thread rule: any thread; one server at a time for each pool, which the pool's lock ensures.
 */
public final class PoolMarkers {
  private static final int NAME_DIGITS = 16;

  /** The 22nd field of /proc/1/stat, counted from the end of the name in parentheses. */
  private static final int START_TIME = 19;

  private final Path directory;
  private final String boot;
  private final Clock clock;

  /**
   * @param directory of the markers, made when the first is written
   * @param boot identity of this start of the machine or container; see {@link #boot}
   */
  public PoolMarkers(Path directory, String boot, Clock clock) {
    this.directory = directory;
    this.boot = boot;
    this.clock = clock;
  }

  /**
   * The directory for markers: what is configured, else systemd's for the unit, else the user's
   * directory for state.
   *
   * @param configured empty for none
   * @param environment of the process
   */
  public static Path directory(String configured, Map<String, String> environment) {
    if (!configured.isEmpty()) {
      return Path.of(configured);
    }
    String unit = environment.getOrDefault("STATE_DIRECTORY", "");
    if (unit.startsWith("/")) {
      return Path.of(unit.split(":", 2)[0]);
    }
    String state = environment.getOrDefault("XDG_STATE_HOME", "");
    if (state.startsWith("/")) {
      return Path.of(state, "tako");
    }
    String home = environment.getOrDefault("HOME", "");
    return home.startsWith("/") ? Path.of(home, ".local/state/tako") : Path.of("/var/lib/tako");
  }

  /**
   * Identity of this start of the machine, and of the container, whose own /dev/shm is new whenever
   * its first process is.
   *
   * @param proc /proc
   */
  public static String boot(Path proc) throws IOException {
    String machine = Files.readString(proc.resolve("sys/kernel/random/boot_id")).strip();
    Path first = proc.resolve("1/stat");
    if (!Files.isReadable(first)) {
      return machine; // other users' processes are hidden
    }
    String stat = Files.readString(first);
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return machine + "-" + fields[START_TIME];
  }

  String boot() {
    return boot;
  }

  /** The file of the marker of {@code pool}. */
  Path file(Path pool) {
    byte[] path = key(pool).toString().getBytes(StandardCharsets.UTF_8);
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(path);
      return directory.resolve("pool-" + HexFormat.of().formatHex(hash).substring(0, NAME_DIGITS));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static Path key(Path pool) {
    return pool.toAbsolutePath().normalize();
  }

  /**
   * The marker of {@code pool}, if there is one.
   *
   * @throws TakoException CORRUPT when the file is no marker
   */
  Optional<PoolMarker> find(Path pool) throws TakoException {
    Path file = file(pool);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      Optional<PoolMarker> marker = PoolMarker.parse(Files.readString(file));
      if (marker.isEmpty()) {
        throw new TakoException(
            Status.CORRUPT,
            file
                + " should say which pool was at "
                + pool
                + ", but cannot be understood: look why there is no pool, then remove the file");
      }
      return marker;
    } catch (IOException e) {
      throw PoolDirectory.failed(file, "read", e);
    }
  }

  /**
   * Remembers a pool that is open; durable when this returns.
   *
   * @param id of the pool
   * @param fileSystem type of the one it is on
   */
  void remember(Path pool, long id, String fileSystem) throws IOException {
    Path file = file(pool);
    Optional<PoolMarker> known =
        Files.exists(file) ? PoolMarker.parse(Files.readString(file)) : Optional.empty();
    String text = String.format("%016x", id);
    Instant made =
        known
            .filter(marker -> marker.id().equals(text))
            .map(PoolMarker::made)
            .orElse(Instant.ofEpochMilli(clock.currentTimeMillis()));
    PoolMarker marker = new PoolMarker(key(pool), text, fileSystem, boot, made);
    if (!known.equals(Optional.of(marker))) {
      write(file, marker.text());
    }
  }

  private void write(Path file, String text) throws IOException {
    Ownership.makePrivateDirectory(directory);
    Path whole = Files.createTempFile(directory, file.getFileName() + ".", ".part");
    try {
      Files.writeString(whole, text);
      sync(whole, StandardOpenOption.WRITE);
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      sync(directory, StandardOpenOption.READ);
    } finally {
      Files.deleteIfExists(whole);
    }
  }

  private static void sync(Path path, StandardOpenOption how) throws IOException {
    try (FileChannel channel = FileChannel.open(path, how)) {
      channel.force(true);
    }
  }

  /** Whether a pool was at {@code pool}, and was not removed on purpose. */
  public boolean has(Path pool) {
    return Files.exists(file(pool));
  }

  /** Removes the marker of a pool that was removed on purpose. */
  public void forget(Path pool) throws IOException {
    Files.deleteIfExists(file(pool));
  }
}
