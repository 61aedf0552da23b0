package io.takofs.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.store.PagedStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolTest {
  private static final PoolSizes SMALL =
      new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, PoolSizes.DATA_MIN);

  @TempDir Path directory;

  private static void assertRefused(ThrowingCallable call, Status status, String... words) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(TakoException.class);
    assertThat(((TakoException) thrown).status()).as(thrown.getMessage()).isEqualTo(status);
    assertThat(thrown.getMessage()).contains(words);
  }

  private void assertOpenRefused(Status status, String... words) {
    assertRefused(() -> Pool.open(directory).close(), status, words);
  }

  /** Changes the bytes of {@code meta} from {@code offset}. */
  private void overwrite(long offset, byte[] bytes) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(directory.resolve("meta").toFile(), "rw")) {
      file.seek(offset);
      file.write(bytes);
    }
  }

  private byte[] superblock() throws IOException {
    byte[] bytes = new byte[Layout.SUPERBLOCK_SIZE];
    try (RandomAccessFile file = new RandomAccessFile(directory.resolve("meta").toFile(), "r")) {
      file.readFully(bytes);
    }
    return bytes;
  }

  private void overwriteBothCopies(byte[] superblock) throws IOException {
    CRC32C crc = new CRC32C();
    crc.update(superblock, 0, Layout.SUPERBLOCK_CRC32C_OFFSET);
    ByteBuffer.wrap(superblock)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(Layout.SUPERBLOCK_CRC32C_OFFSET, (int) crc.getValue());
    overwrite(0, superblock);
    overwrite(Layout.SUPERBLOCK_COPY_B, superblock);
  }

  @Test
  void shouldKeepBytesAndIdentityAndCountEpochs() throws Exception {
    Pool.format(directory, SMALL);
    long id;
    try (Pool pool = Pool.open(directory)) {
      id = pool.identity().poolId();
      assertThat(pool.epoch()).isEqualTo(1);
      assertThat(pool.identity()).isEqualTo(new PoolIdentity(id, 0, 0));
      pool.join(5, 3);
      assertThat(pool.identity()).isEqualTo(new PoolIdentity(id, 5, 3));
      assertThat(pool.sizes()).isEqualTo(SMALL);
      assertThat(pool.pages().length()).isEqualTo(SMALL.pages());
      pool.pages().slice(SMALL.pages() - 8, 8).putLong(0, 11);
      pool.log().slice(0, 8).putLong(0, 12);
      pool.log().slice(SMALL.log() - 8, 8).putLong(0, 13);
      pool.arenas().get(0).slice(SMALL.data() - 8, 8).putLong(0, 14);
    }
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.identity()).isEqualTo(new PoolIdentity(id, 5, 3));
      assertThat(pool.epoch()).isEqualTo(2);
      assertThat(pool.pages().slice(SMALL.pages() - 8, 8).getLong(0)).isEqualTo(11);
      assertThat(pool.log().slice(0, 8).getLong(0)).isEqualTo(12);
      assertThat(pool.log().slice(SMALL.log() - 8, 8).getLong(0)).isEqualTo(13);
      assertThat(pool.arenas().get(0).slice(SMALL.data() - 8, 8).getLong(0)).isEqualTo(14);
    }
  }

  @Test
  void shouldHoldAnEmptyStoreWhenFormatted() throws Exception {
    Pool.format(directory, SMALL);
    try (Pool pool = Pool.open(directory);
        PagedStore store = PagedStore.open(pool.pages())) {
      assertThat(store.checkpointIndex()).isZero();
      assertThat(store.pagesUsed()).isZero();
    }
  }

  @Test
  void shouldLetNobodyElseOpenAnyFile() throws Exception {
    Pool.format(directory.resolve("pool"), SMALL);
    Pool.open(directory.resolve("pool")).close();
    assertThat(mode("pool")).isEqualTo("rwx------");
    for (String file : new String[] {"meta", "data", "lock"}) {
      assertThat(mode("pool/" + file)).as(file).isEqualTo("rw-------");
    }
  }

  @Test
  void shouldCloseToOthersWhatAnEarlierVersionLeftOpen() throws Exception {
    Pool.format(directory, SMALL);
    setMode("", "rwxrwxrwx");
    setMode("data", "rw-rw----");
    setMode("lock", "rw-r--r--");
    Pool.open(directory).close();
    assertThat(mode("")).isEqualTo("rwxr-xr-x");
    assertThat(mode("data")).isEqualTo("rw-------");
    assertThat(mode("lock")).isEqualTo("rw-------");
  }

  private void setMode(String name, String mode) throws IOException {
    Files.setPosixFilePermissions(directory.resolve(name), PosixFilePermissions.fromString(mode));
  }

  /** Gives a file or directory to nobody. */
  private void giveAway(String name) throws IOException {
    try {
      Files.setAttribute(directory.resolve(name), "unix:uid", 65534, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      assumeTrue(false, "needs the right to give files away: " + e.getMessage());
    }
  }

  @Test
  void shouldRefuseADirectoryOfAnotherUser() throws Exception {
    Files.createDirectory(directory.resolve("theirs"));
    giveAway("theirs");
    Path theirs = directory.resolve("theirs");
    assertRefused(
        () -> Pool.openOrFormat(theirs, SMALL), Status.PERMISSION_DENIED, "belongs to", "theirs");
    assertThat(theirs.toFile().list()).isEmpty();
    assertThat(Pool.delete(theirs)).isFalse();
    assertThat(theirs).exists();
  }

  @Test
  void shouldRefuseFilesOfAnotherUser() throws Exception {
    for (String name : new String[] {"lock", "data", "meta"}) {
      Path pool = directory.resolve("pool-" + name);
      Pool.format(pool, SMALL);
      giveAway("pool-" + name + "/" + name);
      assertRefused(
          () -> Pool.openOrFormat(pool, SMALL).close(),
          Status.PERMISSION_DENIED,
          pool + "/" + name);
    }
  }

  @Test
  void shouldFollowNoSymbolicLink() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), elsewhere);
    assertRefused(
        () -> Pool.openOrFormat(link, SMALL).close(), Status.PERMISSION_DENIED, "symbolic link");
    assertThat(elsewhere.toFile().list()).isEmpty();
    Path precious = Files.writeString(directory.resolve("precious"), "precious");
    Path pool = Files.createDirectory(directory.resolve("pool"));
    Files.createSymbolicLink(pool.resolve("lock"), precious);
    assertRefused(
        () -> Pool.openOrFormat(pool, SMALL).close(), Status.PERMISSION_DENIED, "symbolic link");
    assertThat(precious).hasContent("precious");
  }

  private String mode(String name) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name)));
  }

  @Test
  void shouldFormatOnceAndOpenAfterwards() throws Exception {
    Path path = directory.resolve("a/pool");
    long id;
    try (Pool pool = Pool.openOrFormat(path, SMALL)) {
      id = pool.identity().poolId();
    }
    PoolSizes other = new PoolSizes(SMALL.pages(), SMALL.log(), SMALL.data() * 2);
    try (Pool pool = Pool.openOrFormat(path, other)) {
      assertThat(pool.identity().poolId()).isEqualTo(id);
      assertThat(pool.sizes()).isEqualTo(SMALL);
    }
    assertRefused(() -> Pool.format(path, SMALL), Status.ALREADY_EXISTS, path.toString());
  }

  @Test
  void shouldFinishAnInterruptedFormat() throws Exception {
    Files.write(directory.resolve("meta"), new byte[1 << 20]);
    Files.write(directory.resolve("data"), new byte[10]);
    assertOpenRefused(Status.INVALID_ARGUMENT, "format did not finish");
    try (Pool pool = Pool.openOrFormat(directory, SMALL)) {
      assertThat(pool.epoch()).isEqualTo(1);
    }
  }

  @Test
  void shouldRefuseWhatIsNoPool() throws Exception {
    Path absent = directory.resolve("absent");
    assertRefused(() -> Pool.open(absent), Status.NOT_FOUND, absent.toString(), "format");
    assertOpenRefused(Status.INVALID_ARGUMENT, "not a Tako pool", "meta");

    Path file = Files.createFile(directory.resolve("file"));
    assertRefused(() -> Pool.open(file), Status.INVALID_ARGUMENT, "is a file");
    assertRefused(
        () -> Pool.format(directory, SMALL), Status.INVALID_ARGUMENT, "file", "empty directory");
    assertThat(directory.resolve("meta")).doesNotExist();
    assertThat(directory.resolve("lock")).doesNotExist();

    Path others = Files.createDirectory(directory.resolve("others"));
    Files.write(others.resolve("data"), new byte[] {1});
    assertRefused(
        () -> Pool.openOrFormat(others, SMALL), Status.INVALID_ARGUMENT, "data", "not Tako's");
    assertThat(others.resolve("data")).hasBinaryContent(new byte[] {1});

    Files.write(
        directory.resolve("meta"),
        "somebody's metadata".repeat(1000).getBytes(StandardCharsets.UTF_8));
    assertOpenRefused(Status.INVALID_ARGUMENT, "not a Tako pool", "choose another directory");
  }

  @Test
  void shouldRefuseNewerVersionsAndOtherLayouts() throws Exception {
    Pool.format(directory, SMALL);
    byte[] superblock = superblock();
    superblock[Layout.SUPERBLOCK_LAYOUT_HASH_OFFSET] ^= 1;
    overwriteBothCopies(superblock);
    assertOpenRefused(
        Status.VERSION_MISMATCH,
        String.format("layout %016x", Layout.LAYOUT_HASH ^ 1),
        "format a new one");

    superblock[Layout.SUPERBLOCK_VERSION_OFFSET] = Layout.POOL_VERSION + 1;
    overwriteBothCopies(superblock);
    assertOpenRefused(
        Status.VERSION_MISMATCH, "version " + (Layout.POOL_VERSION + 1), "run a newer server");
  }

  @Test
  void shouldRefuseAPoolOfAnOlderVersionAndSayWhatToDo() throws Exception {
    Pool.format(directory, SMALL);
    byte[] superblock = superblock();
    superblock[Layout.SUPERBLOCK_VERSION_OFFSET] = Layout.POOL_VERSION - 1;
    superblock[Layout.SUPERBLOCK_LAYOUT_HASH_OFFSET] ^= 1;
    overwriteBothCopies(superblock);
    assertOpenRefused(
        Status.VERSION_MISMATCH,
        directory.resolve("meta").toString(),
        "version " + (Layout.POOL_VERSION - 1),
        "--format");
  }

  @Test
  void shouldHaveASlotForEverySlab() throws Exception {
    long slabsOfPage = Layout.POOL_ALIGN / Layout.SLAB_SLOT_SIZE;
    long data = slabsOfPage * Layout.SLAB_SIZE;
    PoolSizes full = new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, data).checked();
    assertThat(full.slabs()).isEqualTo(Layout.POOL_ALIGN);
    assertThat(full.slabOffset()).isEqualTo(full.logOffset() + full.log());
    assertThat(full.metaLength()).isEqualTo(full.slabOffset() + full.slabs());
    PoolSizes more = new PoolSizes(full.pages(), full.log(), data + Layout.POOL_ALIGN).checked();
    assertThat(more.slabs()).isEqualTo(2L * Layout.POOL_ALIGN);

    Pool.format(directory, SMALL);
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.slabs().length()).isEqualTo(SMALL.slabs());
      assertThat(pool.slabs().fileOffset()).isEqualTo(SMALL.slabOffset());
      assertThat(pool.slabs().slice(SMALL.slabs() - 8, 8).getLong(0)).isZero();
      pool.slabs().slice(0, 8).putLong(0, 15);
      pool.slabs().slice(SMALL.slabs() - 8, 8).putLong(0, 16);
    }
    ByteBuffer written = ByteBuffer.wrap(superblock()).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(written.getLong(Layout.SUPERBLOCK_SLAB_OFFSET_OFFSET)).isEqualTo(SMALL.slabOffset());
    assertThat(written.getLong(Layout.SUPERBLOCK_SLAB_LENGTH_OFFSET)).isEqualTo(SMALL.slabs());
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.slabs().slice(0, 8).getLong(0)).isEqualTo(15);
      assertThat(pool.slabs().slice(SMALL.slabs() - 8, 8).getLong(0)).isEqualTo(16);
    }
  }

  @Test
  void shouldOpenWithEitherCopyOfTheSuperblockDamagedAtEveryBit() throws Exception {
    Pool.format(directory, SMALL);
    byte[] good = superblock();
    ByteBuffer area = ByteBuffer.allocate(Superblock.AREA).order(ByteOrder.LITTLE_ENDIAN);
    for (int copy : new int[] {0, Layout.SUPERBLOCK_COPY_B}) {
      for (int bit = 0; bit < 8 * Layout.SUPERBLOCK_SIZE; bit++) {
        area.put(0, good).put(Layout.SUPERBLOCK_COPY_B, good);
        int at = copy + bit / 8;
        area.put(at, (byte) (area.get(at) ^ 1 << bit % 8));
        assertThat(Superblock.bothValid(area)).isFalse();
        Superblock read = Superblock.read(area, "here");
        assertThat(read.sizes()).isEqualTo(SMALL);
        read.write(area, offset -> {});
        assertThat(Superblock.bothValid(area)).isTrue();
      }
    }
  }

  @Test
  void shouldBeReadableAfterACrashAtEveryByteOfAWrite() throws Exception {
    Superblock before = new Superblock(new PoolIdentity(7, 0, 0), 1, 1, 2, SMALL);
    Superblock after = new Superblock(new PoolIdentity(7, 8, 9), 2, 2, 3, SMALL);
    byte[] old = image(before);
    byte[] written = image(after);
    for (int copy : new int[] {0, Layout.SUPERBLOCK_COPY_B}) {
      for (int bytes = 0; bytes <= Layout.SUPERBLOCK_SIZE; bytes++) {
        byte[] torn = old.clone();
        System.arraycopy(written, copy, torn, copy, bytes);
        Superblock read =
            Superblock.read(ByteBuffer.wrap(torn).order(ByteOrder.LITTLE_ENDIAN), "here");
        assertThat(read).isIn(before, after);
      }
    }
  }

  private static byte[] image(Superblock superblock) {
    ByteBuffer area = ByteBuffer.allocate(Superblock.AREA).order(ByteOrder.LITTLE_ENDIAN);
    superblock.write(area, offset -> {});
    return area.array();
  }

  @Test
  void shouldRepairOneDamagedSuperblockAndRefuseTwo() throws Exception {
    Pool.format(directory, SMALL);
    overwrite(Layout.SUPERBLOCK_EPOCH_OFFSET, new byte[] {99});
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.epoch()).isEqualTo(1);
    }
    overwrite(Layout.SUPERBLOCK_COPY_B + Layout.SUPERBLOCK_EPOCH_OFFSET, new byte[] {99});
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.epoch()).isEqualTo(2);
    }
    overwrite(Layout.SUPERBLOCK_EPOCH_OFFSET, new byte[] {99});
    overwrite(Layout.SUPERBLOCK_COPY_B + Layout.SUPERBLOCK_EPOCH_OFFSET, new byte[] {99});
    assertOpenRefused(Status.CORRUPT, "meta", "both copies of the superblock");
  }

  @Test
  void shouldRefuseTruncatedFiles() throws Exception {
    for (String name : new String[] {"data", "meta"}) {
      Path pool = directory.resolve(name);
      Pool.format(pool, SMALL);
      try (RandomAccessFile file = new RandomAccessFile(pool.resolve(name).toFile(), "rw")) {
        file.setLength(file.length() - 1);
      }
      assertRefused(
          () -> Pool.open(pool), Status.CORRUPT, pool.resolve(name).toString(), "truncated");
    }
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("meta/meta").toFile(), "rw")) {
      file.setLength(100);
    }
    assertRefused(
        () -> Pool.open(directory.resolve("meta")),
        Status.CORRUPT,
        "both copies of the superblock");
    Files.delete(directory.resolve("data/data"));
    assertRefused(() -> Pool.open(directory.resolve("data")), Status.CORRUPT, "is missing");
    assertThat(directory.resolve("data/data")).doesNotExist();
  }

  @Test
  void shouldRefuseAPoolThatThisProcessHolds() throws Exception {
    Pool.format(directory, SMALL);
    String pid = "pid " + ProcessHandle.current().pid();
    try (Pool pool = Pool.open(directory)) {
      assertOpenRefused(Status.UNAVAILABLE, directory.toString(), pid, "stop that server");
      assertThat(pool.epoch()).isEqualTo(1);
    }
    Pool.open(directory).close();
  }

  @Test
  void shouldRefuseAPoolThatAnotherProcessHoldsUntilItIsKilled() throws Exception {
    Pool.format(directory, SMALL);
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-cp",
                System.getProperty("java.class.path"),
                PoolHolder.class.getName(),
                directory.toString())
            .redirectErrorStream(true)
            .start();
    try {
      assertThat(holder.inputReader().lines().anyMatch(PoolHolder.READY::equals)).isTrue();
      assertOpenRefused(Status.UNAVAILABLE, "pid " + holder.pid());
    } finally {
      holder.destroyForcibly();
      holder.waitFor();
    }
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.epoch()).isEqualTo(2);
    }
  }

  @Test
  void shouldRefuseImpossibleSizes() throws Exception {
    assertThat(PoolSizes.divide(64 << 20, 0, 0, PoolSizes.SEGMENTS_MIN))
        .isEqualTo(new PoolSizes(8 << 20, 24 << 20, 28 << 20));
    assertThat(PoolSizes.divide(30 << 20, 8 << 20, 16 << 20, PoolSizes.SEGMENTS_MIN))
        .isEqualTo(new PoolSizes(8 << 20, 16 << 20, 2 << 20));
    PoolSizes large = PoolSizes.divide(16L << 30, 0, 0, PoolSizes.SEGMENTS_MIN);
    assertThat(large.total()).isLessThanOrEqualTo(16L << 30).isGreaterThan((16L << 30) - (4 << 20));
    assertThat(large.arenas()).isEqualTo(15);

    assertRefused(
        () -> PoolSizes.divide(1 << 20, 0, 0, PoolSizes.SEGMENTS_MIN),
        Status.INVALID_ARGUMENT,
        "1048576",
        "too small",
        "the least is");
    assertRefused(
        () -> PoolSizes.divide(1L << 50, 0, 0, PoolSizes.SEGMENTS_MIN),
        Status.INVALID_ARGUMENT,
        "too large");
    assertRefused(
        () -> PoolSizes.divide(1L << 30, 4 << 20, 0, PoolSizes.SEGMENTS_MIN),
        Status.INVALID_ARGUMENT,
        "page zone");
    assertRefused(
        () -> PoolSizes.divide(1L << 30, 0, 1, PoolSizes.SEGMENTS_MIN),
        Status.INVALID_ARGUMENT,
        "log zone");
    assertRefused(
        () -> Pool.format(directory, new PoolSizes(8 << 20, 16 << 20, 12345)),
        Status.INVALID_ARGUMENT,
        "data zone of 12345 bytes");
  }

  @Test
  void shouldRefuseMoreThanTheFileSystemHasAndLeaveNothing() throws Exception {
    PoolSizes huge = PoolSizes.divide(15L << 40, 0, 0, PoolSizes.SEGMENTS_MIN);
    assumeTrue(Files.getFileStore(directory).getUsableSpace() < huge.total());
    assertRefused(
        () -> Pool.format(directory, huge), Status.NO_SPACE, directory.toString(), "bytes free");
    assertThat(directory.resolve("meta")).doesNotExist();
    assertThat(directory.resolve("data")).doesNotExist();
    Pool.openOrFormat(directory, SMALL).close();
  }

  @Test
  void shouldNotDeleteThePoolOfALiveServer() throws IOException {
    Path path = directory.resolve("pool");
    try (Pool live = Pool.openOrFormat(path, SMALL)) {
      assertThat(catchThrowable(() -> Pool.delete(path)))
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("is held by a live server");
      assertThat(path.resolve("meta")).exists();
      assertThat(live.epoch()).isPositive();
    }
    assertThat(Pool.delete(path)).isTrue();
  }

  @Test
  void shouldDeleteAPoolAndNothingElse() throws IOException {
    Path pool = directory.resolve("pool");
    Pool.format(pool, SMALL);
    Pool.open(pool).close();
    Files.createDirectories(pool.resolve("shm").resolve("1"));
    assertThat(Pool.delete(pool)).isTrue();
    assertThat(pool).doesNotExist();
    assertThat(Pool.delete(pool)).as("when it is gone").isTrue();
    Pool.format(directory, SMALL);
    Path precious = Files.writeString(directory.resolve("precious"), "mine");
    assertThat(Pool.delete(directory)).isFalse();
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).containsExactly(precious);
    }
  }

  @Test
  void shouldLeaveADirectoryAloneThatIsNoPool() throws IOException {
    Path precious = Files.writeString(directory.resolve("data"), "mine");
    assertThat(Pool.delete(directory)).isFalse();
    assertThat(precious).hasContent("mine");
  }
}
