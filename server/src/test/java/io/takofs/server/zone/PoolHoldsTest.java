package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.NativeFile;
import io.takofs.server.extent.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolHoldsTest {
  private static final int UNIT = Layout.UNIT_SIZE;

  @TempDir Path directory;

  @Test
  void shouldFindExactlyWhatIsHeld() throws IOException {
    Path data = Files.createFile(directory.resolve("data"));
    Random random = new Random(1);
    for (int round = 0; round < 50; round++) {
      try (PoolHolds holds = new PoolHolds(data);
          NativeFile reader = NativeFile.open(data, 0)) {
        List<Location> extents = new ArrayList<>();
        Set<Location> held = new HashSet<>();
        for (int i = random.nextInt(128); i >= 0; i--) {
          Location extent = new Location(random.nextInt(2), 2 * i * UNIT, UNIT);
          extents.add(extent);
          if (random.nextInt(10) < round % 4) {
            long begin = extent.arena() * (long) Layout.ARENA_SIZE + extent.offset();
            assertThat(reader.tryShare(begin, UNIT)).isTrue();
            held.add(extent);
          }
        }
        // Holds beside and between them do not count.
        assertThat(reader.tryShare(UNIT, UNIT)).isTrue();
        Collections.shuffle(extents, random);
        assertThat(holds.held(extents)).isEqualTo(held);
      }
    }
  }

  @Test
  void shouldFindNothingAmongNone() throws IOException {
    try (PoolHolds holds = new PoolHolds(Files.createFile(directory.resolve("data")))) {
      assertThat(holds.held(List.of())).isEmpty();
    }
  }
}
