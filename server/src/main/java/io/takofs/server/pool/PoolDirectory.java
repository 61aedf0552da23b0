package io.takofs.server.pool;

import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files of a pool: names, modes, lengths, and what may be done to them.
 *
 * <p>Thread rule: any thread.
 */
final class PoolDirectory {
  private static final String META = "meta";
  private static final String DATA = "data";
  private static final String LOCK = "lock";
  private static final String SHM = "shm";
  private static final Set<String> NAMES = Set.of(META, DATA, LOCK, SHM);

  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rw-------");

  private final Path path;

  private PoolDirectory(Path path) {
    this.path = path;
  }

  /** {@code path}, made if it is not there. */
  static PoolDirectory create(Path path) throws TakoException {
    if (!Ownership.exists(path)) {
      try {
        Ownership.makePrivateDirectory(path);
      } catch (IOException e) {
        throw failed(path, "create", e);
      }
    }
    return existing(path);
  }

  /**
   * {@code path}, which is there.
   *
   * @throws TakoException PERMISSION_DENIED when it, or something of a pool in it, is another
   *     user's or a symbolic link
   */
  static PoolDirectory existing(Path path) throws TakoException {
    if (!Ownership.exists(path)) {
      throw new TakoException(
          Status.NOT_FOUND, "no pool at " + path + ": format one, or correct the path");
    }
    if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          path + " is a file; a pool is a directory: set fs.tako.server.pool.path to one");
    }
    try {
      Ownership.requirePrivateDirectory(path);
      for (String name : NAMES) {
        if (Ownership.exists(path.resolve(name))) {
          Ownership.requireOurs(path.resolve(name));
        }
      }
    } catch (IOException e) {
      throw failed(path, "use", e);
    }
    return new PoolDirectory(path);
  }

  /** Whether a format of {@code path} has finished, or something else lies where a pool would. */
  static boolean isFormatted(Path path) throws TakoException {
    if (!Ownership.exists(path) || !Ownership.exists(existing(path).meta())) {
      return false;
    }
    return !Superblock.isBlank(existing(path).readArea());
  }

  /** Whether a file of a pool at {@code path} has any bytes. */
  static boolean hasBytes(Path path) throws TakoException {
    if (!Ownership.exists(path)) {
      return false;
    }
    PoolDirectory directory = existing(path);
    return length(directory.meta()) > 0 || length(directory.data()) > 0;
  }

  /**
   * Removes the pool at {@code path}, and the directory unless something else is in it.
   *
   * @return whether nothing is left; where no pool is nothing is touched
   * @throws TakoException UNAVAILABLE, naming it, when a server lives there
   */
  static boolean delete(Path path) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) || !Ownership.isOurs(path)) {
      return !Ownership.exists(path);
    }
    Set<String> there;
    try (Stream<Path> entries = Files.list(path)) {
      there = entries.map(entry -> entry.getFileName().toString()).collect(Collectors.toSet());
    }
    if (!there.contains(META) && !Set.of(LOCK, SHM).containsAll(there)) {
      return false;
    }
    empty(path);
    if (!NAMES.containsAll(there)) {
      return false;
    }
    Files.delete(path);
    return true;
  }

  /**
   * Removes the files of a pool from {@code path}, which stays.
   *
   * @throws TakoException UNAVAILABLE, naming it, when a server lives there
   */
  static void empty(Path path) throws IOException {
    PoolLock lock = PoolLock.acquire(new PoolDirectory(path));
    try {
      deleteFiles(path);
    } finally {
      lock.close();
    }
  }

  private static void deleteFiles(Path path) throws IOException {
    deleteTree(path.resolve(SHM));
    for (String name : List.of(DATA, META, LOCK)) {
      Files.deleteIfExists(path.resolve(name));
    }
  }

  private static void deleteTree(Path root) throws IOException {
    if (Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
      try (Stream<Path> tree = Files.walk(root)) {
        for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  Path path() {
    return path;
  }

  Path realPath() throws TakoException {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      throw failed(path, "resolve", e);
    }
  }

  Path meta() {
    return path.resolve(META);
  }

  Path data() {
    return path.resolve(DATA);
  }

  Path lock() {
    return path.resolve(LOCK);
  }

  /** The directory of the shm transport: here, unless the file system has huge pages only. */
  Path shm(long poolId) throws TakoException {
    try {
      return Files.getFileStore(path).type().equals("hugetlbfs")
          ? Path.of("/dev/shm", String.format("tako-pool-%016x", poolId))
          : path.resolve(SHM);
    } catch (IOException e) {
      throw failed(path, "look at the file system of", e);
    }
  }

  /** Refuses to format over anything but an unfinished format, which has its metadata first. */
  void checkFormattable() throws TakoException {
    Set<String> own = Files.exists(meta()) ? NAMES : Set.of(LOCK, SHM);
    try (Stream<Path> entries = Files.list(path)) {
      Path foreign =
          entries
              .filter(entry -> !own.contains(String.valueOf(entry.getFileName())))
              .findAny()
              .orElse(null);
      if (foreign != null) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            "cannot format a pool in "
                + path
                + ": it holds "
                + foreign.getFileName()
                + ", which is not Tako's: choose an empty directory");
      }
    } catch (IOException e) {
      throw failed(path, "list", e);
    }
    if (isFormatted(path)) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          path
              + " already holds a pool: start without --format to use it; only when nobody needs its"
              + " files, remove the directory");
    }
  }

  /** Makes the files, with every byte allocated. */
  void allocate(PoolSizes sizes) throws TakoException {
    try {
      Files.deleteIfExists(data());
      Files.deleteIfExists(meta());
      checkSpace(sizes);
      MappedMemory.allocate(meta(), sizes.metaLength());
      MappedMemory.allocate(data(), sizes.data());
    } catch (IOException e) {
      throw failed(path, "create the files of a pool in", e);
    }
  }

  /**
   * Lets nobody else open the files. A process that can open them may lock a range of the data, and
   * a locked range is never free; an earlier version let the members of the user's group.
   */
  void closeToOthers() throws TakoException {
    for (Path file : List.of(meta(), data())) {
      try {
        if (Files.exists(file)) {
          Files.setPosixFilePermissions(file, PRIVATE);
        }
      } catch (IOException e) {
        throw failed(file, "close to others", e);
      }
    }
  }

  private void checkSpace(PoolSizes sizes) throws IOException {
    FileStore store = Files.getFileStore(path);
    long free = store.getUsableSpace();
    // A hugetlbfs without a limit of its own says 0 of everything; allocating will tell.
    if (store.getTotalSpace() > 0 && sizes.total() > free) {
      throw new TakoException(
          Status.NO_SPACE,
          "a pool of "
              + sizes.total()
              + " bytes does not fit: the file system of "
              + path
              + " has "
              + free
              + " bytes free: lower fs.tako.server.pool.size, or choose another"
              + " fs.tako.server.pool.path");
    }
  }

  /** The superblock as the file holds it, before anything is mapped. */
  Superblock readSuperblock() throws TakoException {
    if (!Files.exists(meta())) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          path + " is not a Tako pool (it has no file " + META + "): choose another directory");
    }
    ByteBuffer area = readArea();
    if (Superblock.isBlank(area)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, path + " holds a pool whose format did not finish: format it");
    }
    return Superblock.read(area, meta().toString());
  }

  /** The bytes of both superblocks, zero where the file is shorter. */
  private ByteBuffer readArea() throws TakoException {
    ByteBuffer area = ByteBuffer.allocate(Superblock.AREA).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel channel = FileChannel.open(meta(), StandardOpenOption.READ)) {
      int read = 0;
      while (area.hasRemaining() && read >= 0) {
        read = channel.read(area, area.position());
      }
      return area;
    } catch (IOException e) {
      throw failed(meta(), "read", e);
    }
  }

  /** Process that opened the pool last, if that can be told. */
  OptionalLong lastOwner() {
    try {
      return OptionalLong.of(readSuperblock().ownerPid());
    } catch (TakoException e) {
      return OptionalLong.empty();
    }
  }

  void checkLengths(PoolSizes sizes) throws TakoException {
    checkLength(meta(), sizes.metaLength());
    checkLength(data(), sizes.data());
  }

  private static void checkLength(Path file, long expected) throws TakoException {
    long length = length(file);
    if (length < expected) {
      String found =
          Files.exists(file)
              ? " has %d bytes, its pool was formatted with %d: it was truncated"
                  .formatted(length, expected)
              : " is missing, its pool was formatted with %d bytes there".formatted(expected);
      throw new TakoException(
          Status.CORRUPT,
          file
              + found
              + "; restore it, or remove the directory and start with --format for an empty pool");
    }
  }

  /** Length of a file, 0 if it is missing. */
  private static long length(Path file) throws TakoException {
    try {
      return Files.exists(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      throw failed(file, "examine", e);
    }
  }

  /** The exception for an I/O error in a pool. */
  static TakoException failed(Path path, String action, IOException e) {
    if (e instanceof TakoException known) {
      return known;
    }
    Status status = Status.UNAVAILABLE;
    String remedy = "";
    if (e instanceof AccessDeniedException) {
      status = Status.PERMISSION_DENIED;
      remedy = ": run as the owner of the pool, or correct its permissions";
    } else if (String.valueOf(reason(e)).contains("No space left")) {
      status = Status.NO_SPACE;
      remedy = ": lower fs.tako.server.pool.size, or choose another fs.tako.server.pool.path";
    }
    return new TakoException(
        status, "cannot " + action + " " + path + " (" + reason(e) + ")" + remedy, e);
  }

  private static String reason(IOException e) {
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    return e instanceof FileSystemException fse && fse.getReason() != null
        ? fse.getReason()
        : String.valueOf(e.getMessage());
  }
}
