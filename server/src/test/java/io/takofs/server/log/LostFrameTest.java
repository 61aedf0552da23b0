package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.AdoptLog;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.Segment;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A member sees a heartbeat that counts a frame which is not whole at this member. */
class LostFrameTest {
  private static final int SELF = 2;
  private static final int LEADER = 1;
  private static final int CANDIDATE = 3;
  private static final int ENTRIES = 5;
  private static final int SLOTS = 4;
  private static final int PAYLOAD = 40;
  private static final long TERM = 2;

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final Undo undo = new Undo();
  private final LogTransports transports = new LogTransports();
  private final LogFixture fixture = new LogFixture(SLOTS, 4096);
  private final LogFixture leaders = new LogFixture(SLOTS, 4096);
  private ByteBuffer heartbeat;
  private LogReplica leader;
  private LogReplica replica;
  private LogGrant grant;

  @BeforeEach
  void beGranted() throws Exception {
    LogTransport lent = fixture.over(transport, undo);
    transports.add(lent);
    heartbeat = lent.memory().heartbeat().buffer();
    replica = open();
    leader =
        LogReplica.open(
            LEADER, leaders.zone(), new LogTransports(), LogFixture.IDENTITY, 0, () -> true);
    leader.prepare(prepare(TERM, LEADER));
    leader.lead(TERM);
    for (int i = 0; i < ENTRIES; i++) {
      leader.append(TERM, FrameCodec.ENTRY, i, ByteBuffer.allocate(PAYLOAD));
    }
    replica.prepare(prepare(TERM, LEADER));
    grant =
        replica.grant(
            GrantLog.newBuilder().setTerm(TERM).setLeader(LEADER).setTransport("tcp").build());
  }

  @AfterEach
  void close() {
    undo.close();
    transport.close();
  }

  private LogReplica open() throws TakoException {
    return LogReplica.open(SELF, fixture.zone(), transports, LogFixture.IDENTITY, 0, () -> true);
  }

  /** Has the member adopt all that the leader has, which is all but the frame that is lost. */
  private void adopt() throws TakoException {
    fixture.writeFramesOf(leaders);
    Segment segment = leader.chain().tail();
    replica.adopt(
        AdoptLog.newBuilder()
            .setTerm(TERM)
            .setGrant(grant.getGrant())
            .setFirstSequence(segment.header().segmentSequence())
            .setLastIndex(leader.lastIndex())
            .addSegments(SegmentDescription.of(segment, null))
            .build());
    assertThat(replica.lastIndex()).isEqualTo(leader.lastIndex());
  }

  private void seeHeartbeat() {
    HeartbeatRecord.write(heartbeat, 0, TERM, 1, 0, lost(), new Crc32cScratch());
    replica.scan();
  }

  private long lost() {
    return leader.lastIndex() + 1;
  }

  private static PrepareLog prepare(long term, int candidate) {
    return PrepareLog.newBuilder()
        .setTerm(term)
        .setCandidate(candidate)
        .setTransport("tcp")
        .build();
  }

  /** The member's own checkpoint may cover what it learns of, and that makes room. */
  @Test
  void shouldLearnWhatIsCommittedFromALeaderForWhichItHasNoSlot() throws Exception {
    adopt();
    long index = leader.lastIndex() - 1;
    replica.prepare(prepare(TERM + 1, LEADER));
    Integer taken = replica.takeSlot();
    while (taken != null) {
      taken = replica.takeSlot();
    }
    GrantLog next =
        GrantLog.newBuilder()
            .setTerm(TERM + 1)
            .setLeader(LEADER)
            .setTransport("tcp")
            .setCommittedIndex(index)
            .setCommittedChain(leader.chain().chainAfter(index))
            .build();

    assertThatThrownBy(() -> replica.grant(next))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.NO_SPACE));
    assertThat(replica.commitIndex()).isEqualTo(index);
    assertThat(replica.needsCheckpoint()).as("others hold its slots for a while").isFalse();
  }

  /** The leader needs a slot for each segment that the member has to adopt. */
  @Test
  void shouldGiveNoGrantWithFewerSlotsThanTheLeaderNeeds() throws Exception {
    adopt();
    replica.prepare(prepare(TERM + 1, LEADER));
    GrantLog.Builder next =
        GrantLog.newBuilder().setTerm(TERM + 1).setLeader(LEADER).setTransport("tcp");
    int free = replica.freeSlots();
    next.setCommittedIndex(leader.lastIndex() + 1);
    assertThatThrownBy(() -> replica.grant(next.setSegments(free).build()))
        .isInstanceOf(TakoException.class);
    assertThat(replica.isGranted()).isFalse();
    assertThat(replica.grant(next.setSegments(free - 1).build()).getSlotsCount())
        .isEqualTo(free - 1);
  }

  /** It may need fewer slots than the leader thought. */
  @Test
  void shouldGiveWhatSlotsItHasWhenItHasTheCheckpointThatMakesRoom() throws Exception {
    adopt();
    replica.prepare(prepare(TERM + 1, LEADER));
    GrantLog next =
        GrantLog.newBuilder()
            .setTerm(TERM + 1)
            .setLeader(LEADER)
            .setTransport("tcp")
            .setSegments(SLOTS)
            .setCommittedIndex(1)
            .build();
    assertThatThrownBy(() -> replica.grant(next)).isInstanceOf(TakoException.class);
    replica.cover(1);
    assertThat(replica.grant(next).getSlotsCount()).isPositive();
  }

  @Test
  void shouldKnowOfItAfterARestartThatFollowsAtOnce() throws Exception {
    adopt();
    seeHeartbeat();
    assertThat(countedAfterRestart()).isEqualTo(lost());
  }

  @Test
  void shouldKnowOfItWhenTheHeartbeatCameBeforeTheAdoption() throws Exception {
    seeHeartbeat();
    assertThat(replica.position(null).getCountedIndex()).as("of another log").isZero();
    adopt();
    assertThat(countedAfterRestart()).isEqualTo(lost());
  }

  private long countedAfterRestart() throws TakoException {
    return open().position(null).getCountedIndex();
  }

  /** Its log is that of a later leader then, which has all that is committed. */
  @Test
  void shouldNotSpeakOfItOnceItHasLed() throws Exception {
    adopt();
    seeHeartbeat();
    LogPosition own = replica.prepare(prepare(TERM + 1, SELF));
    assertThat(own.getCountedIndex()).isEqualTo(lost());
    replica.lead(TERM + 1);
    LogPosition position = replica.prepare(prepare(TERM + 2, CANDIDATE));
    assertThat(position.getAcceptedTerm()).isEqualTo(TERM + 1);
    assertThat(position.getCountedIndex()).isZero();
  }
}
