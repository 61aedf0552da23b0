package io.takofs.client.internal.file;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeptBytesTest {
  private static final List<Place> EXTENT = List.of(new Place(2, 0, 1 << 20, Layout.UNIT_SIZE));
  private static final List<Place> OTHER = List.of(new Place(3, 0, 1 << 20, Layout.UNIT_SIZE));

  private final KeptBytes kept = new KeptBytes();

  private void keep(List<Place> extent, int offset, String bytes) {
    kept.add(extent.get(0), offset, ByteBuffer.wrap(bytes.getBytes(US_ASCII)));
  }

  @Test
  void shouldHaveWhatWasKeptPieceByPiece() {
    keep(EXTENT, 3, "def");
    keep(EXTENT, 0, "abc");
    keep(OTHER, 6, "ghi");
    assertThat(kept.hasAll(EXTENT, 0, 6)).isTrue();
    assertThat(kept.hasAll(EXTENT, 0, 7)).isFalse();
    ByteBuffer bytes = ByteBuffer.allocate(6);
    kept.putInto(EXTENT, 0, bytes);
    assertThat(new String(bytes.array(), US_ASCII)).isEqualTo("abcdef");
  }

  /** Its place may be granted for other bytes while those of the others are still moved. */
  @Test
  void shouldForgetAnExtentThatWasMoved() {
    keep(EXTENT, 0, "abc");
    keep(OTHER, 0, "xyz");
    kept.remove(EXTENT);
    assertThat(kept.hasAll(EXTENT, 0, 1)).isFalse();
    ByteBuffer bytes = ByteBuffer.allocate(3);
    kept.putInto(EXTENT, 0, bytes);
    assertThat(bytes.array()).containsOnly(0);
    assertThat(kept.hasAll(OTHER, 0, 3)).isTrue();
  }
}
