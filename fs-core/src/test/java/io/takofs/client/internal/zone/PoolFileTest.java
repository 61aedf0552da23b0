package io.takofs.client.internal.zone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolFileTest {
  private static final int LENGTH = 4 << 20;

  @TempDir Path directory;
  private NativeFile server;
  private Arenas shown;
  private PoolFile file;

  @BeforeEach
  void open() throws IOException {
    Path data = Files.write(directory.resolve("data"), new byte[LENGTH]);
    server = NativeFile.open(data, 0);
    shown =
        Arenas.newBuilder()
            .setDataFile(data.toString())
            .setDataDevice(((Number) Files.getAttribute(data, "unix:dev")).longValue())
            .setDataInode(((Number) Files.getAttribute(data, "unix:ino")).longValue())
            .addArenas(RemoteArena.newBuilder().setLength(LENGTH))
            .build();
    file = PoolFile.open(shown);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static Place extent(int offset, int capacity) {
    return new Place(0, 0, offset, capacity);
  }

  private boolean isHeld(Place extent) throws IOException {
    return server.isLockedByOther(extent.offset(), extent.capacity());
  }

  /** Releasing one would take from the other what both have. */
  @Test
  void shouldHoldNothingThatOverlapsWhatIsHeld() throws IOException {
    Place small = extent(2 * Layout.UNIT_SIZE, Layout.UNIT_SIZE);
    Place around = extent(0, Layout.EXTENT_SIZE_MAX);
    assertThat(file.hold(small)).isTrue();
    assertThat(file.hold(around)).isFalse();
    assertThat(file.hold(extent(small.offset(), 2 * Layout.UNIT_SIZE))).isFalse();
    assertThat(file.hold(extent(Layout.UNIT_SIZE, Layout.UNIT_SIZE))).isTrue();
    assertThat(file.hold(small)).isTrue();
    file.release(small);
    assertThat(isHeld(small)).isTrue();
    file.release(small);
    assertThat(isHeld(small)).isFalse();
    file.release(extent(Layout.UNIT_SIZE, Layout.UNIT_SIZE));
    assertThat(file.hold(around)).isTrue();
    assertThat(file.hold(small)).isFalse();
    file.release(around);
    file.close();
  }

  /** Its descriptor may be another file's by then. */
  @Test
  void shouldBeOfNoUseOnceItIsClosed() throws IOException {
    PoolFile same = PoolFile.open(shown);
    assertThat(same).isSameAs(file);
    same.close();
    Place extent = extent(0, Layout.UNIT_SIZE);
    assertThat(file.hold(extent)).isTrue();
    file.close();
    assertThat(isHeld(extent)).isTrue();
    file.release(extent);
    assertThat(isHeld(extent)).isFalse();
    assertThat(file.hold(extent)).isFalse();
    assertThatThrownBy(() -> file.arena(0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
    PoolFile another = PoolFile.open(shown);
    assertThat(another).isNotSameAs(file);
    another.close();
  }
}
