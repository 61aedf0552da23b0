package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Undo;
import io.takofs.proto.AskLog;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogPosition;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.transport.QueuePair;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A member heeds a heartbeat that came before it looked, or while it shut its leader out. */
class HeartbeatTest {
  private static final int SELF = 2;
  private static final int LEADER = 1;
  private static final int CANDIDATE = 3;
  private static final LogTimes TIMES = timesWithHold(200);

  private static LogTimes timesWithHold(long holdMs) {
    return new LogTimes(
        TimeUnit.MILLISECONDS.toNanos(50),
        TimeUnit.MILLISECONDS.toNanos(300),
        TimeUnit.MILLISECONDS.toNanos(600),
        TimeUnit.MILLISECONDS.toNanos(50),
        TimeUnit.MILLISECONDS.toNanos(holdMs));
  }

  private final ManualClock clock = new ManualClock();
  private ByteBuffer heartbeat;
  private QueuePair pair; // of the leader
  private LogReplica replica;

  /** A leader may answer reads by its lease: it counts this heartbeat. */
  @Test
  void shouldPromiseNothingOnceAHeartbeatCameWhileTheLeaderWasShutOut() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        Undo undo = new Undo()) {
      LogMember member = granted(transport, undo);
      clock.advance(Duration.ofSeconds(1));
      assertThat(prepare(member, 3, CANDIDATE).getStatus()).isEqualTo(Status.BUSY);
      clock.advance(Duration.ofNanos(TIMES.electionMinNs()));
      assertThat(prepare(member, 4, CANDIDATE).getStatus()).isEqualTo(Status.OK);
    }
  }

  /** Its thread did not run for longer than the time-out. */
  @Test
  void shouldNotMissALeaderWhoseHeartbeatHasCome() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        Undo undo = new Undo()) {
      LogMember member = granted(transport, undo);
      clock.advance(Duration.ofSeconds(1));
      HeartbeatRecord.write(heartbeat, 0, 2, 1, 0, 0, new Crc32cScratch());
      assertThat(misses(member)).isFalse();
      clock.advance(Duration.ofSeconds(1));
      assertThat(misses(member)).as("no other one has come").isTrue();
    }
  }

  /** It asks whether the others miss the leader, and the leader shows itself. */
  @Test
  void shouldNotMissALeaderThatIsBackWhileTheOthersAreAsked() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        Undo undo = new Undo()) {
      LogMember member = granted(transport, undo);
      clock.advance(Duration.ofSeconds(1));
      member.tick();
      assertThat(member.role()).isEqualTo(LogMember.Role.ASKING);
      HeartbeatRecord.write(heartbeat, 0, 2, 1, 0, 0, new Crc32cScratch());
      assertThat(misses(member)).isFalse();
      assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
    }
  }

  /** The other answers that it misses the leader, too, but a heartbeat has come meanwhile. */
  @Test
  void shouldNotStandWhenTheLeaderIsBackBeforeTheOthersAnswer() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        Undo undo = new Undo()) {
      List<Consumer<Reply>> answers = new ArrayList<>();
      LogPeers peers =
          new SilentPeers() {
            @Override
            public void call(int server, Request request, Consumer<Reply> answer) {
              answers.add(answer);
            }
          };
      LogMember member = granted(transport, undo, peers, timesWithHold(0));
      clock.advance(Duration.ofSeconds(1));
      member.tick();
      HeartbeatRecord.write(heartbeat, 0, 2, 1, 0, 0, new Crc32cScratch());
      LogPosition misses = LogPosition.newBuilder().setMissesLeader(true).build();
      Reply reply = Reply.newBuilder().setLogPosition(misses).build();
      List.copyOf(answers).forEach(each -> each.accept(reply));
      assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
    }
  }

  /** Those that saw the end of the leader's connection before this one did may answer now. */
  @Test
  void shouldAskAnewWhenTheLeadersConnectionEndsWhileTheOthersAreAsked() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        Undo undo = new Undo()) {
      List<Request> asked = new ArrayList<>();
      LogPeers peers =
          new SilentPeers() {
            @Override
            public void call(int server, Request request, Consumer<Reply> answer) {
              asked.add(request);
            }
          };
      LogMember member = granted(transport, undo, peers, timesWithHold(0));
      clock.advance(Duration.ofSeconds(1));
      member.tick();
      assertThat(asked).as("both of the others").hasSize(2);
      replica.disconnected(pair);
      member.tick();
      assertThat(member.role()).isEqualTo(LogMember.Role.ASKING);
      assertThat(asked).as("at once: it is the next one after server 1").hasSize(4);
    }
  }

  /** A member to which the leader of term 2 may write. */
  private LogMember granted(TcpTransport transport, Undo undo) throws Exception {
    return granted(transport, undo, new SilentPeers(), TIMES);
  }

  private LogMember granted(TcpTransport transport, Undo undo, LogPeers peers, LogTimes times)
      throws Exception {
    LogTransports transports = new LogTransports();
    LogFixture fixture = new LogFixture(4, 4096);
    LogTransport lent = fixture.over(transport, undo);
    heartbeat = lent.memory().heartbeat().buffer();
    transports.add(lent);
    replica = LogReplica.open(SELF, fixture.zone(), transports, LogFixture.IDENTITY, 0, () -> true);
    LogMember member =
        new LogMember(
            1,
            replica,
            new ReplicatedLog(replica, 0),
            peers,
            new FixedCatalog(new GroupConfig(1, Set.of(1, 2, 3), Set.of(), true)),
            times,
            clock,
            new Random(1));
    clock.advance(Duration.ofSeconds(1));
    assertThat(prepare(member, 2, LEADER).getStatus()).isEqualTo(Status.OK);
    pair = leadersPair(2);
    replica.connected(2, grant(member, 2), pair);
    return member;
  }

  private static boolean misses(LogMember member) {
    AskLog ask =
        AskLog.newBuilder().setGroup(1).setTerm(3).setCandidate(CANDIDATE).setEpoch(1).build();
    Reply reply = member.handle(Request.newBuilder().setAskLog(ask).build());
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply.getLogPosition().getMissesLeader();
  }

  /** The leader's last heartbeat lands while its connection is being ended, and counts there. */
  private QueuePair leadersPair(int term) {
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (pair, method, arguments) ->
                switch (method.getName()) {
                  case "revoke" -> {
                    HeartbeatRecord.write(heartbeat, 0, term, 1, 0, 0, new Crc32cScratch());
                    yield true;
                  }
                  case "state" -> QueuePair.State.CONNECTED;
                  case "equals" -> pair == arguments[0];
                  case "hashCode" -> System.identityHashCode(pair);
                  default -> null;
                });
  }

  private static Reply prepare(LogMember member, long term, int candidate) {
    PrepareLog prepare =
        PrepareLog.newBuilder()
            .setGroup(1)
            .setTerm(term)
            .setCandidate(candidate)
            .setEpoch(1)
            .setTransport("tcp")
            .build();
    return member.handle(Request.newBuilder().setPrepareLog(prepare).build());
  }

  private static long grant(LogMember member, long term) {
    GrantLog grant =
        GrantLog.newBuilder()
            .setGroup(1)
            .setTerm(term)
            .setLeader(LEADER)
            .setEpoch(1)
            .setTransport("tcp")
            .build();
    Reply reply = member.handle(Request.newBuilder().setGrantLog(grant).build());
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply.getLogGrant().getGrant();
  }
}
