package io.takofs.bench.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameWaysTest {
  private static final int SLOTS = 12;

  /** More than two segments, so that frames end, and segments begin, in the middle of writes. */
  private static final int ENTRIES = 20_000;

  private static final int ENTRY_MAX = 2000;

  @TempDir private Path directory;

  /** What a run has left: the entries that the follower has, and the data bytes of both members. */
  private record Left(
      List<ByteBuffer> entries, List<ByteBuffer> leader, List<ByteBuffer> follower) {}

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldCommitTheSameBytesBothWays(String transport) throws Exception {
    Map<FrameWay, Left> left = new EnumMap<>(FrameWay.class);
    Map<FrameWay, Long> calls = new EnumMap<>(FrameWay.class);
    for (FrameWay way : FrameWay.values()) {
      Path place = Files.createDirectory(directory.resolve(way.name()));
      try (NodePair nodes = new NodePair(way, transport, place, SLOTS)) {
        left.put(way, run(nodes));
        calls.put(way, nodes.follower().costs().totals()[0]);
      }
    }

    Left called = left.get(FrameWay.CALLS);
    Left oneSided = left.get(FrameWay.ONE_SIDED);
    assertThat(called.entries).hasSize(ENTRIES).isEqualTo(oneSided.entries);
    assertThat(called.leader.size()).isGreaterThan(2);
    assertThat(called.follower).isEqualTo(called.leader);
    assertThat(oneSided.follower).isEqualTo(oneSided.leader);
    assertThat(oneSided.leader).isEqualTo(called.leader);
    assertThat(calls.get(FrameWay.CALLS)).isGreaterThan(ENTRIES / 100);
    assertThat(calls.get(FrameWay.ONE_SIDED)).isZero();
  }

  private static Left run(NodePair nodes) throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    List<ByteBuffer> entries = new ArrayList<>();
    nodes
        .follower()
        .setApplied(
            (index, term, payload) -> {
              if (payload.hasRemaining()) {
                entries.add(ByteBuffer.allocate(payload.remaining()).put(payload).flip());
              }
            });
    for (int i = 0; i < ENTRIES; i++) {
      byte[] entry = new byte[1 + random.nextInt(ENTRY_MAX)];
      random.nextBytes(entry);
      long index = nodes.leader().log().propose(ByteBuffer.wrap(entry));
      if (i % 50 == 0 || i == ENTRIES - 1) { // so that batches differ, and are cut in two
        nodes.turnUntilCommitted(index);
      }
    }
    nodes.turnUntil(() -> entries.size() == ENTRIES); // a heartbeat says that the last one is
    return new Left(entries, data(nodes.leader()), data(nodes.follower().follower()));
  }

  /** Data of the slots that have any, in the order of their first entries. */
  private static List<ByteBuffer> data(BenchMember member) {
    List<ByteBuffer> data = new ArrayList<>();
    for (long at = 0; at < member.zone().length(); at += Layout.SEGMENT_SIZE) {
      ByteBuffer slot =
          member
              .zone()
              .slice(
                  at + Layout.SEGMENT_DATA_OFFSET,
                  Layout.SEGMENT_SIZE - Layout.SEGMENT_DATA_OFFSET);
      if (slot.getLong(0) != 0) {
        data.add(ByteBuffer.allocate(slot.remaining()).put(slot).flip());
      }
    }
    data.sort(
        (one, other) ->
            Long.compareUnsigned(
                Long.reverseBytes(one.getLong(Layout.FRAME_HEADER_INDEX_OFFSET)),
                Long.reverseBytes(other.getLong(Layout.FRAME_HEADER_INDEX_OFFSET))));
    return data;
  }
}
