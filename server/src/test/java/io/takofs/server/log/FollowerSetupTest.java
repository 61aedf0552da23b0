package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Undo;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.proto.LogSlot;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.segment.FrameCodec;
import io.takofs.transport.QueuePair;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A member that gives few slots, and a link on which no write completes. */
class FollowerSetupTest {
  private static final int SELF = 1;
  private static final int OTHER = 2;
  private static final long TERM = 3;
  private static final int TICKS = 30;

  private final Undo undo = new Undo();
  private final List<GrantLog> asked = new ArrayList<>();
  private LogReplica replica;
  private ReplicatedLog log;
  private LogTransport via;
  private int slots;
  private LogPosition position = LogPosition.getDefaultInstance(); // of the member

  @BeforeEach
  void lead() throws Exception {
    LogFixture fixture = new LogFixture(8, 64);
    TcpTransport transport = undo.add(new TcpTransport(TcpSettings.DEFAULT));
    via = fixture.over(transport, undo);
    replica =
        LogReplica.open(
            SELF, fixture.zone(), new LogTransports(), LogFixture.IDENTITY, 0, () -> true);
    log = new ReplicatedLog(replica, 0);
    replica.prepare(PrepareLog.newBuilder().setTerm(TERM).setCandidate(SELF).build());
    replica.lead(TERM);
    while (segments() < 3) {
      replica.append(TERM, FrameCodec.ENTRY, 0, ByteBuffer.allocate(1));
    }
  }

  @AfterEach
  void close() {
    undo.close();
  }

  private int segments() {
    return replica.chain().segments().size();
  }

  @Test
  void shouldNotMindThatThereAreNoSlotsForWhatComesLater() {
    slots = segments();
    setUp();
    assertThat(log.stream(OTHER)).isNotNull();
    assertThat(asked).hasSize(1);
  }

  /** The member decides what makes room, and gives up nothing that it need not. */
  @Test
  void shouldAskForAllSlotsThatAreNeededWhenTheMemberHasTooFew() {
    slots = segments() - 1;
    log.learn(endOf(0));
    setUp();
    assertThat(asked.size()).isGreaterThan(3);
    for (GrantLog again : asked.subList(1, asked.size())) {
      assertThat(again.getSegments()).isEqualTo(segments());
      assertThat(again.getFirstIndex()).isZero();
      assertThat(again.getCommittedIndex())
          .as("the checkpoint that it makes will do, whatever is committed meanwhile")
          .isEqualTo(endOf(0));
    }
  }

  private long endOf(int segment) {
    return replica.chain().segments().get(segment).lastIndex();
  }

  /** The log that it has ends before the checkpoint that it has taken over. */
  @Test
  void shouldBeginAfterACheckpointThatIsNewerThanTheLogOfTheMember() {
    slots = 1;
    List<LogSegment> mine = replica.position(null).getSegmentsList();
    position =
        LogPosition.newBuilder()
            .addSegments(mine.get(0))
            .setCheckpointIndex(mine.get(1).getLastIndex())
            .build();
    setUp();
    assertThat(log.stream(OTHER).firstSequence()).isEqualTo(mine.get(2).getSequence());
  }

  private void setUp() {
    LogTimes times = new LogTimes(50, 300, 600, 50, 0);
    FollowerSetup setup = new FollowerSetup(OTHER, 1, TERM, 0, replica, log, new FewSlots(), times);
    for (int i = 0; i < TICKS; i++) {
      setup.tick(TimeUnit.SECONDS.toNanos(i));
      if (log.stream(OTHER) != null) {
        log.stream(OTHER).send();
      }
    }
  }

  /** Answers at once. */
  private final class FewSlots implements LogPeers {
    @Override
    public void call(int server, Request request, Consumer<Reply> answer) {
      LogGrant.Builder grant = LogGrant.newBuilder().setGrant(1).setPosition(position);
      if (request.hasGrantLog()) {
        asked.add(request.getGrantLog());
        if (request.getGrantLog().getSegments() > 0) {
          log.learn(endOf(1));
          answer.accept(Reply.newBuilder().setStatus(Status.NO_SPACE).build());
          return;
        }
        for (int i = 0; i < slots; i++) {
          grant.addSlots(LogSlot.getDefaultInstance());
        }
      }
      answer.accept(Reply.newBuilder().setLogGrant(grant).build());
    }

    @Override
    public LogTransport transportTo(int server) {
      return via;
    }

    @Override
    public void connect(
        int server, LogTransport over, long term, long grant, Consumer<QueuePair> answer) {
      answer.accept(FollowerStreamTest.pair());
    }
  }
}
