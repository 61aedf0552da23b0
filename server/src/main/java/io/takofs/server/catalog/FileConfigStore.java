package io.takofs.server.catalog;

import io.takofs.base.Clock;
import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * A store in a file, for all servers that have its directory and the commands beside them. Each
 * change replaces the file by a whole one, so that readers need no lock.
 *
 * <p>Thread rule: any thread of any process of this user that may wait for the directory.
 */
public final class FileConfigStore extends CommandStore {
  private static final long LOCK_LIMIT_NS = Duration.ofSeconds(5).toNanos();
  private static final long LOCK_PAUSE_NS = Duration.ofMillis(2).toNanos();

  /** A process must not ask twice for a lock that it has. */
  private static final Object PROCESS_LOCK = new Object();

  private final Path file;
  private final Path lock;
  private final Clock clock;
  private final CatalogFile values;

  /**
   * The store in {@code file}, which is made by the first change, as its directory is.
   *
   * @param clock by which sessions end, and with which servers compare theirs
   */
  public FileConfigStore(Path file, Clock clock) {
    this(file, clock, step -> {});
  }

  FileConfigStore(Path file, Clock clock, CatalogFile.Steps steps) {
    this.file = file.toAbsolutePath();
    this.lock = this.file.resolveSibling(file.getFileName() + ".lock");
    this.clock = clock;
    this.values = new CatalogFile(this.file, steps);
  }

  @Override
  public Value get(String key) throws TakoException {
    return current().get(key);
  }

  @Override
  public Map<String, Value> values() throws TakoException {
    return current().values();
  }

  private CatalogState current() throws TakoException {
    try {
      CatalogState state = values.read();
      long now = clock.currentTimeMillis();
      state.expired(now).forEach(command -> state.apply(command, now));
      return state;
    } catch (IOException e) {
      throw failed("read", e);
    }
  }

  @Override
  public boolean restore(CatalogState copy) throws TakoException {
    return change(CatalogCommand.restore(copy)) != LOST;
  }

  @Override
  protected long change(CatalogCommand command) throws TakoException {
    synchronized (PROCESS_LOCK) {
      try {
        if (!Ownership.exists(file.getParent())) {
          Ownership.makePrivateDirectory(file.getParent());
        }
        try (FileChannel channel = CatalogFile.open(lock)) {
          acquire(channel);
          CatalogState state = values.read();
          long now = clock.currentTimeMillis();
          state.expired(now).forEach(each -> state.apply(each, now));
          long version = state.apply(command, now);
          if (version != LOST) {
            values.write(state);
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

  private TakoException failed(String action, IOException e) {
    if (!(e instanceof TakoException known)) {
      return new TakoException(
          Status.UNAVAILABLE, "cannot " + action + " the catalog " + file + " (" + e + ")", e);
    }
    return known.status() == Status.CORRUPT
        ? new TakoException(
            Status.CORRUPT,
            known.getMessage() + ": restore it, or move it away and let the server begin a new one",
            known)
        : known;
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
