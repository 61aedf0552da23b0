package io.takofs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeLibrary;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedMemoryTest {
  private static final int LENGTH = 1 << 20;

  @TempDir Path directory;

  @Test
  void shouldBeAvailableWhereTheBuildMadeTheLibrary() {
    assertThat(NativeLibrary.unavailabilityCause()).isEmpty();
  }

  @Test
  void shouldCreateAFileWithEveryByteAllocated() throws IOException {
    Path path = directory.resolve("new");
    try (MappedMemory memory = MappedMemory.create(path, LENGTH)) {
      assertThat(memory.length()).isEqualTo(LENGTH);
      assertThat(memory.slice(0, LENGTH)).isEqualTo(ByteBuffer.allocate(LENGTH));
      assertThat(Files.size(path)).isEqualTo(LENGTH);
      assertThat((long) Files.getAttribute(path, "unix:size")).isEqualTo(LENGTH);
    }
  }

  @Test
  void shouldRefuseToCreateOverAnExistingFile() throws IOException {
    Path path = Files.writeString(directory.resolve("old"), "precious");
    assertThatThrownBy(() -> MappedMemory.create(path, LENGTH))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(path.toString())
        .hasFieldOrPropertyWithValue("status", Status.ALREADY_EXISTS);
    assertThat(Files.readString(path)).isEqualTo("precious");
  }

  @Test
  void shouldNameFileAndSizeWhenThereIsNoSpace() {
    Path path = directory.resolve("huge");
    long length = 1L << 50;
    assertThatThrownBy(() -> MappedMemory.create(path, length))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(path.toString())
        .hasMessageContaining(String.valueOf(length))
        .hasFieldOrPropertyWithValue("status", Status.NO_SPACE);
    assertThat(path).doesNotExist();
  }

  @Test
  void shouldShareBytesBetweenMappingsOfOneFile() throws IOException {
    Path path = directory.resolve("shared");
    try (MappedMemory first = MappedMemory.create(path, LENGTH);
        MappedMemory second = MappedMemory.map(path, 4096, 8192)) {
      first.slice(4096 + 100, 8).putLong(0, 42);
      assertThat(second.slice(100, 8).getLong(0)).isEqualTo(42);
      assertThat(second.fileOffset()).isEqualTo(4096);
    }
  }

  @Test
  void shouldMapFromAnOffsetThatIsNotPageAligned() throws IOException {
    Path path = directory.resolve("unaligned");
    try (MappedMemory first = MappedMemory.create(path, LENGTH);
        MappedMemory second = MappedMemory.map(path, 1001, 5000)) {
      second.slice(4999, 1).put(0, (byte) 7);
      assertThat(first.slice(6000, 1).get(0)).isEqualTo((byte) 7);
    }
  }

  @Test
  void shouldRefuseToMapBeyondTheEndOfTheFile() throws IOException {
    Path path = directory.resolve("short");
    MappedMemory.allocate(path, 8192);
    assertThatThrownBy(() -> MappedMemory.map(path, 4096, 8192))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(path.toString());
  }

  @Test
  void shouldLeaveZeroesAndNoFaultToWhoStillUsesAClosedMapping() throws IOException {
    Path path = directory.resolve("closed");
    MappedMemory memory = MappedMemory.create(path, LENGTH);
    ByteBuffer straggler = memory.slice(0, LENGTH);
    straggler.putLong(0, -1);
    memory.close();
    memory.close();
    assertThat(straggler.getLong(0)).isZero();
    straggler.putLong(0, 5);
    assertThat(Files.readAllBytes(path)[0]).isEqualTo((byte) -1);
    assertThatThrownBy(() -> memory.slice(0, 1)).hasMessageContaining(path.toString());
  }

  @Test
  void shouldPersistWhatWasStored() throws IOException {
    Path path = directory.resolve("kept");
    try (MappedMemory memory = MappedMemory.create(path, LENGTH)) {
      memory.slice(70_000, 3).put(new byte[] {1, 2, 3});
      memory.persist(70_000, 3);
    }
    assertThat(Files.readAllBytes(path))
        .startsWith(0, 0)
        .contains((byte) 3, org.assertj.core.data.Index.atIndex(70_002));
  }

  @Test
  void shouldTellALockOfAnotherOpenFileInTheSameProcess() throws IOException {
    Path path = directory.resolve("lock");
    MappedMemory.allocate(path, 1);
    NativeFile holder = NativeFile.open(path, NativeCore.OPEN_WRITE);
    try (NativeFile other = NativeFile.open(path, NativeCore.OPEN_WRITE)) {
      assertThat(holder.tryLock()).isTrue();
      assertThat(holder.isLockedByOther()).isFalse();
      assertThat(other.isLockedByOther()).isTrue();
      assertThat(other.tryLock()).isFalse();
      holder.close();
      assertThat(other.isLockedByOther()).isFalse();
      assertThat(other.tryLock()).isTrue();
    }
  }

  @Test
  void shouldOpenOnlyRegularFiles() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("target"));
    MappedMemory.allocate(directory.resolve("target"), 1);
    assertThatThrownBy(() -> NativeFile.open(directory, 0)).isInstanceOf(TakoException.class);
    assertThatThrownBy(() -> NativeFile.open(link, NativeCore.OPEN_NO_FOLLOW))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("symbolic link");
    NativeFile.open(link, 0).close();
  }
}
