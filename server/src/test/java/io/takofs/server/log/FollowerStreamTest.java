package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogGrant;
import io.takofs.proto.LogSlot;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentState;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FollowerStreamTest {
  private static final SegmentHeader HEADER =
      new SegmentHeader(
          SegmentState.OPEN, LogFixture.IDENTITY.logId(), 1, 3, 17, 2, 0x1234, 0, 0, 8, 1);

  @Test
  void shouldNeedNoWriteWhenTheLogIsAnEmptySegmentAfterACheckpoint() {
    LogZone zone = new LogFixture(2, 4096).zone();
    Chain chain = new Chain();
    chain.add(Segment.open(zone, 0, HEADER, new Crc32cScratch()));

    FollowerStream stream =
        new FollowerStream(
            2,
            chain,
            (segment, offset, index) -> true,
            null,
            null,
            LogGrant.getDefaultInstance(),
            3);

    assertThat(stream.writtenIndex())
        .as("all that the leader has below its first segment is in a checkpoint")
        .isEqualTo(chain.lastIndex());
  }

  /** The leader gives up segments of a stream without a connection; a completion may come yet. */
  @Test
  void shouldFindNoDamageWhereTheSegmentWasGivenUp() throws Exception {
    Chain chain = new Chain();
    LogZone zone = new LogFixture(2, 4096).zone();
    chain.add(Segment.open(zone, 0, HEADER, new Crc32cScratch()));
    chain.tail().append(new FrameCodec(), 0, ByteBuffer.wrap(new byte[] {1}));
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        ProtectionDomain domain = transport.allocateProtectionDomain()) {
      MemoryRegion memory = domain.allocate(4096, Access.REMOTE_READ_WRITE);
      LogTransport via =
          new LogTransport("tcp", domain, new LogMemory(List.of(memory), memory), null);
      LogGrant grant = LogGrant.newBuilder().addSlots(LogSlot.getDefaultInstance()).build();
      List<Long> looked = new ArrayList<>();
      FollowerStream stream =
          new FollowerStream(
              2,
              chain,
              (segment, offset, index) -> looked.add(index),
              via,
              pair(),
              grant,
              HEADER.segmentSequence());
      stream.send();
      long next = HEADER.baseIndex() + 1;
      SegmentHeader after =
          new SegmentHeader(SegmentState.OPEN, HEADER.logId(), 1, 4, 17, next, 0x1234, 0, 0, 8, 1);
      chain.add(Segment.open(zone, 1, after, new Crc32cScratch()));
      chain.tail().append(new FrameCodec(), 0, ByteBuffer.wrap(new byte[] {2}));
      assertThat(chain.cutOldest(HEADER.baseIndex())).isNotNull();
      stream.onCompletion(1, CompletionStatus.SUCCESS);

      assertThat(looked).isEmpty();
      assertThat(stream.writtenIndex()).isEqualTo(HEADER.baseIndex() - 1);
      assertThat(stream.hasFailed()).isTrue();
    }
  }

  /** A pair that stays connected and sends nothing. */
  static QueuePair pair() {
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (pair, method, arguments) ->
                method.getName().equals("state") ? QueuePair.State.CONNECTED : null);
  }
}
