package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.takofs.layout.Layout;
import io.takofs.server.segment.CommitMark;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Persistence;
import io.takofs.server.segment.SegmentHeader;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Many seeded lives of the log, and proof that weaker logs would not survive them. */
class LogSimulationTest {
  private static final int SEEDS = Integer.getInteger("tako.sim.log.seeds", 150);
  private static final int STEPS = 400;

  /** Seeds within which every weakened log must have failed. */
  private static final int SEEDS_TO_FAIL = 20;

  @Test
  void shouldKeepWhatWasCommittedThroughRandomCrashes() throws Exception {
    for (int seed = 0; seed < SEEDS; seed++) {
      new LogSimulation(seed).run(STEPS);
    }
  }

  @Test
  void shouldCatchALogThatChecksOnlyHeaders() {
    assertCaught(
        () ->
            new FrameCodec() {
              @Override
              public String check(
                  ByteBuffer memory,
                  ByteBuffer view,
                  int offset,
                  int limit,
                  int previousChain,
                  short term16,
                  long index) {
                String wrong =
                    super.check(memory, view, offset, limit, previousChain, term16, index);
                return wrong != null && wrong.contains("payload") ? null : wrong;
              }
            },
        zone -> {});
  }

  @Test
  void shouldCatchALogThatTakesANonZeroTrailerForAWholeFrame() {
    assertCaught(
        () ->
            new FrameCodec() {
              @Override
              public String check(
                  ByteBuffer memory,
                  ByteBuffer view,
                  int offset,
                  int limit,
                  int previousChain,
                  short term16,
                  long index) {
                int length = FrameCodec.length(memory, offset);
                return length > 0
                        && length <= limit - offset - OVERHEAD
                        && FrameCodec.index(memory, offset) == index
                        && FrameCodec.chain(memory, offset) != 0
                    ? null
                    : "its trailer is zero";
              }
            },
        zone -> {});
  }

  @Test
  void shouldCatchALogWithoutCommitMarks() {
    Crc32cScratch crc = new Crc32cScratch();
    assertCaught(
        FrameCodec::new,
        zone -> {
          for (int slot = 0; slot < zone.slotCount(); slot++) {
            SegmentHeader header = SegmentHeader.read(zone.slot(slot), crc);
            if (header != null) {
              CommitMark.write(
                  new LogZone(
                      new ByteBuffer[] {zone.slot(slot), zone.slot(slot)}, Persistence.NONE),
                  0,
                  header.segmentSequence(),
                  Layout.SEGMENT_DATA_OFFSET,
                  crc);
            }
          }
        });
  }

  private static void assertCaught(Supplier<FrameCodec> codec, Consumer<LogZone> atRestart) {
    for (int seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new LogSimulation(seed, codec, atRestart).run(STEPS);
      } catch (AssertionError | Exception found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        return;
      }
    }
    fail("no seed caught it");
  }
}
