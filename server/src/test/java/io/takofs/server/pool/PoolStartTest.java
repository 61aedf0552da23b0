package io.takofs.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolStartTest {
  private static final PoolSizes SMALL =
      new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, PoolSizes.DATA_MIN);

  private static final PoolSizes IMPOSSIBLE =
      new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, 1L << 43);

  @TempDir Path disk;
  private Path memory;
  private Path pool;

  @BeforeEach
  void makePlace() throws Exception {
    memory = Files.createTempDirectory(Path.of("/dev/shm"), "tako-test-");
    pool = memory.resolve("pool");
  }

  @AfterEach
  void removePlace() throws Exception {
    Pool.delete(pool);
    Files.delete(memory);
  }

  private PoolMarkers markers(String boot) {
    return new PoolMarkers(disk.resolve("state"), boot, Clock.SYSTEM);
  }

  private PoolStart start(String boot) {
    return new PoolStart(pool, SMALL, markers(boot));
  }

  /** Opens and closes a pool; gives its identity. */
  private long serve(String boot) throws TakoException {
    try (Pool opened = start(boot).open()) {
      return opened.identity().poolId();
    }
  }

  private TakoException refusal(String boot) {
    return catchThrowableOfType(() -> start(boot).open().close(), TakoException.class);
  }

  @Test
  void shouldRefuseWhenThePoolVanishedWhileTheMachineRan() throws Exception {
    long id = serve("b");
    assertThat(serve("b")).isEqualTo(id);
    Pool.delete(pool);
    TakoException refused = refusal("b");
    assertThat(refused.status()).isEqualTo(Status.NOT_FOUND);
    assertThat(refused.getMessage())
        .contains(
            pool.toString(),
            String.format("%016x", id),
            "tmpfs",
            "RemoveIPC",
            "fs.tako.server.pool.path",
            "--format",
            markers("b").file(pool).toString());
    assertThat(pool).doesNotExist();
  }

  @Test
  void shouldFormatOnDemandOnlyWhereThereIsNoPool() throws Exception {
    long id = serve("b");
    TakoException there = catchThrowableOfType(() -> start("b").format(), TakoException.class);
    assertThat(there.status()).isEqualTo(Status.ALREADY_EXISTS);
    assertThat(serve("b")).isEqualTo(id);
    Pool.delete(pool);
    start("b").format().close();
    assertThat(serve("b")).isNotEqualTo(id);
  }

  private void assertDamagedAndUntouched(String said) throws Exception {
    for (String boot : new String[] {"b", "c"}) {
      for (ThrowingCallable call :
          List.<ThrowingCallable>of(
              () -> start(boot).open().close(), () -> start(boot).format().close())) {
        byte[] data = Files.readAllBytes(pool.resolve("data"));
        TakoException refused = catchThrowableOfType(call, TakoException.class);
        assertThat(refused).isNotNull();
        assertThat(refused.status()).isEqualTo(Status.CORRUPT);
        assertThat(refused.getMessage())
            .contains(pool.toString(), "damaged", said, "keep a copy", "--format");
        assertThat(Files.readAllBytes(pool.resolve("data"))).isEqualTo(data);
        assertThat(markers("b").file(pool)).exists();
      }
    }
  }

  private void fillData() throws Exception {
    try (Pool opened = start("b").open()) {
      opened.arenas().get(0).slice(4096, 8).putLong(0, 42);
    }
  }

  @Test
  void shouldFormatNoPoolWhoseSuperblockWasZeroed() throws Exception {
    fillData();
    try (RandomAccessFile meta = new RandomAccessFile(pool.resolve("meta").toFile(), "rw")) {
      meta.write(new byte[1 << 20]);
    }
    assertDamagedAndUntouched("begins with zeros");
    Files.move(pool, memory.resolve("kept"));
    start("b").format().close();
    serve("b");
    assertThat(Pool.delete(memory.resolve("kept"))).isTrue();
  }

  @Test
  void shouldFormatNoPoolWhoseMetadataIsMissing() throws Exception {
    fillData();
    Files.delete(pool.resolve("meta"));
    assertDamagedAndUntouched("is missing");
    Files.delete(pool.resolve("data"));
  }

  @Test
  void shouldFinishAFormatOnDemandThatWasKilled() throws Exception {
    serve("b");
    Pool.delete(pool);
    PoolStart killed = new PoolStart(pool, IMPOSSIBLE, markers("b"));
    assertThat(catchThrowableOfType(killed::format, TakoException.class)).isNotNull();
    Files.write(pool.resolve("meta"), new byte[1 << 20]);
    Files.write(pool.resolve("data"), new byte[10]);
    serve("b");
  }

  @Test
  void shouldSayThatTheDataIsMissingAndNotMakeIt() throws Exception {
    serve("b");
    Files.delete(pool.resolve("data"));
    for (int i = 0; i < 2; i++) {
      assertThat(refusal("b")).hasMessageContaining(pool.resolve("data") + " is missing");
      assertThat(pool.resolve("data")).doesNotExist();
    }
  }

  @Test
  void shouldFormatWhenABootExplainsTheLoss() throws Exception {
    long id = serve("b");
    Pool.delete(pool);
    assertThat(serve("c")).isNotEqualTo(id);
    Pool.delete(pool);
    assertThat(refusal("c")).isNotNull();
  }

  @Test
  void shouldCountABootThatThePoolSurvived() throws Exception {
    serve("b");
    serve("c");
    Pool.delete(pool);
    assertThat(refusal("c")).isNotNull();
  }

  @Test
  void shouldAcceptAPoolThatWasForgotten() throws Exception {
    serve("b");
    Pool.delete(pool);
    markers("b").forget(pool);
    serve("b");
  }

  @Test
  void shouldServeWithoutAPlaceForMarkers() throws Exception {
    Files.writeString(disk.resolve("state"), "a file");
    long id = serve("b");
    assertThat(serve("b")).isEqualTo(id);
  }

  @Test
  void shouldRefuseAMarkerThatCannotBeUnderstood() throws Exception {
    serve("b");
    Path file = markers("b").file(pool);
    Files.writeString(file, "pool\n");
    serve("b"); // written anew
    assertThat(PoolMarker.parse(Files.readString(file))).isPresent();
    Files.writeString(file, "pool\n");
    Pool.delete(pool);
    assertThat(refusal("b").status()).isEqualTo(Status.CORRUPT);
    assertThat(refusal("b")).hasMessageContaining(file.toString());
  }

  @Test
  void shouldTakeABootAsAReasonOnlyInMemoryAndOnTheSameFileSystem() {
    Instant made = Instant.ofEpochSecond(1);
    for (String type : new String[] {"tmpfs", "hugetlbfs"}) {
      PoolMarker marker = new PoolMarker(pool, "01", type, "b", made);
      assertThat(PoolMarker.parse(marker.text())).isEqualTo(Optional.of(marker));
      assertThat(marker.isExplainedByBoot(type, "c")).isTrue();
      assertThat(marker.isExplainedByBoot(type, "b")).isFalse();
      assertThat(marker.isExplainedByBoot("ext4", "c")).isFalse();
    }
    PoolMarker dax = new PoolMarker(pool, "01", "xfs", "b", made);
    assertThat(dax.isExplainedByBoot("xfs", "c")).isFalse();
    assertThat(PoolMarker.parse(dax.text().replace("1970", "then"))).isEmpty();
  }

  @Test
  void shouldTellAContainersStartFromTheMachines() throws Exception {
    Files.createDirectories(disk.resolve("sys/kernel/random"));
    Files.writeString(disk.resolve("sys/kernel/random/boot_id"), "9f3c\n");
    assertThat(PoolMarkers.boot(disk)).isEqualTo("9f3c");
    Files.createDirectories(disk.resolve("1"));
    String rest = " S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 31415 1000 200\n";
    Files.writeString(disk.resolve("1/stat"), "1 (a (b) c)" + rest);
    assertThat(PoolMarkers.boot(disk)).isEqualTo("9f3c-31415");
    assertThat(PoolMarkers.boot(Path.of("/proc"))).isEqualTo(PoolMarkers.boot(Path.of("/proc")));
  }

  @Test
  void shouldTakeTheFirstDirectoryThatIsSaid() {
    Map<String, String> all =
        Map.of("STATE_DIRECTORY", "/u:/v", "XDG_STATE_HOME", "/x", "HOME", "/h");
    assertThat(PoolMarkers.directory("/c", all)).isEqualTo(Path.of("/c"));
    assertThat(PoolMarkers.directory("", all)).isEqualTo(Path.of("/u"));
    assertThat(PoolMarkers.directory("", Map.of("XDG_STATE_HOME", "/x", "HOME", "/h")))
        .isEqualTo(Path.of("/x/tako"));
    assertThat(PoolMarkers.directory("", Map.of("HOME", "/h")))
        .isEqualTo(Path.of("/h/.local/state/tako"));
    assertThat(PoolMarkers.directory("", Map.of())).isEqualTo(Path.of("/var/lib/tako"));
  }
}
