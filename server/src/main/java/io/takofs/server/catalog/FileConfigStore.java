package io.takofs.server.catalog;

import io.takofs.base.Clock;
import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.catalog.CatalogCommand.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * A store in a file, for all servers that have its directory and the commands beside them. Each
 * change replaces the file by a whole one, fsynced, so that a crash leaves the former or the new;
 * readers need no lock.
 *
 * <p>Thread rule: any thread of any process of this user that may wait for the directory.
 */
public final class FileConfigStore implements ConfigStore {
  private static final int MAGIC = 0x54434154; // TCAT
  private static final int HEADER = 12; // magic, CRC32C of what follows, length
  private static final long LOCK_LIMIT_NS = Duration.ofSeconds(5).toNanos();
  private static final long LOCK_PAUSE_NS = Duration.ofMillis(2).toNanos();

  /** A process must not ask twice for a lock that it has. */
  private static final Object PROCESS_LOCK = new Object();

  private final Path file;
  private final Path part;
  private final Path lock;
  private final Clock clock;
  private final Steps steps;

  /** Told after each step of a change, so that a test can stop there for good. */
  @FunctionalInterface
  interface Steps {
    void done(String step) throws IOException;
  }

  /**
   * The store in {@code file}, which is made by the first change, as its directory is.
   *
   * @param clock by which sessions end, and with which servers compare theirs
   */
  public FileConfigStore(Path file, Clock clock) {
    this(file, clock, step -> {});
  }

  FileConfigStore(Path file, Clock clock, Steps steps) {
    this.file = file.toAbsolutePath();
    this.part = this.file.resolveSibling(file.getFileName() + ".part");
    this.lock = this.file.resolveSibling(file.getFileName() + ".lock");
    this.clock = clock;
    this.steps = steps;
  }

  @Override
  public Value get(String key) throws TakoException {
    try {
      CatalogState state = read();
      long now = clock.currentTimeMillis();
      state.expired(now).forEach(command -> state.apply(command, now));
      return state.get(key);
    } catch (IOException e) {
      throw failed("read", e);
    }
  }

  @Override
  public long compareAndSet(String key, long expected, byte[] bytes, Duration ttl)
      throws TakoException {
    return change(new CatalogCommand(Kind.SET, key, expected, ttl.toMillis(), bytes));
  }

  @Override
  public boolean renew(String key, long version) throws TakoException {
    return change(CatalogCommand.of(Kind.RENEW, key, version)) != LOST;
  }

  @Override
  public boolean remove(String key, long version) throws TakoException {
    return change(CatalogCommand.of(Kind.REMOVE, key, version)) != LOST;
  }

  private long change(CatalogCommand command) throws TakoException {
    synchronized (PROCESS_LOCK) {
      try {
        if (!Ownership.exists(file.getParent())) {
          Ownership.makePrivateDirectory(file.getParent());
        }
        try (FileChannel channel = open(lock)) {
          acquire(channel);
          CatalogState state = read();
          long now = clock.currentTimeMillis();
          state.expired(now).forEach(each -> state.apply(each, now));
          long version = state.apply(command, now);
          if (version != LOST) {
            replace(state.encode());
          }
          return version;
        }
      } catch (IOException e) {
        throw failed("change", e);
      }
    }
  }

  /** Takes the lock of the file, until {@code channel} is closed. */
  private void acquire(FileChannel channel) throws IOException {
    long deadline = clock.nanoTime() + LOCK_LIMIT_NS;
    while (channel.tryLock() == null) {
      if (clock.nanoTime() - deadline > 0) {
        throw new IOException("another process has held " + lock + " for 5 s");
      }
      clock.parkNanos(this, LOCK_PAUSE_NS);
    }
  }

  private CatalogState read() throws IOException {
    if (!Files.exists(file)) {
      return new CatalogState();
    }
    Ownership.requireOurs(file);
    ByteBuffer whole = ByteBuffer.wrap(Files.readAllBytes(file));
    if (whole.remaining() < HEADER || whole.getInt() != MAGIC) {
      throw corrupt("it does not begin as one");
    }
    int crc = whole.getInt();
    if (whole.getInt() != whole.remaining() || crc32c(whole.slice()) != crc) {
      throw corrupt("its CRC is wrong");
    }
    byte[] bytes = new byte[whole.remaining()];
    whole.get(bytes);
    try {
      return CatalogState.decode(bytes);
    } catch (IOException e) {
      throw corrupt(e.getMessage());
    }
  }

  private TakoException corrupt(String why) {
    return new TakoException(
        Status.CORRUPT,
        file
            + " is no catalog ("
            + why
            + "): restore it, or move it away and let the server begin a new one");
  }

  private void replace(byte[] bytes) throws IOException {
    ByteBuffer whole = ByteBuffer.allocate(HEADER + bytes.length);
    whole.putInt(MAGIC).putInt(crc32c(ByteBuffer.wrap(bytes))).putInt(bytes.length).put(bytes);
    Files.deleteIfExists(part); // of a process that died
    steps.done("removed the former part");
    try (FileChannel channel = open(part)) {
      steps.done("made the part");
      whole.flip();
      while (whole.hasRemaining()) {
        channel.write(whole);
      }
      steps.done("wrote the part");
      channel.force(true);
    }
    steps.done("made the part durable");
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    steps.done("moved the part");
    try (FileChannel directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
    steps.done("made the move durable");
  }

  /** Opens a file to write, and makes it, for this user alone, when it is not there. */
  static FileChannel open(Path path) throws IOException {
    return FileChannel.open(
        path,
        Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private static int crc32c(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private TakoException failed(String action, IOException e) {
    return e instanceof TakoException known
        ? known
        : new TakoException(
            Status.UNAVAILABLE, "cannot " + action + " the catalog " + file + " (" + e + ")", e);
  }

  @Override
  public long currentTimeMillis() {
    return clock.currentTimeMillis();
  }

  @Override
  public String description() {
    return file.toString();
  }

  @Override
  public void close() {
    // No file is open between calls.
  }
}
