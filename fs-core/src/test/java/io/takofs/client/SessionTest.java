package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.FakeServer.Fault;
import io.takofs.client.internal.session.CallNumbers;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SessionTest {
  private final FakeServer server = new FakeServer(4 << 20, 65536);
  private TakoClient client;

  @BeforeEach
  void connect() throws TakoException {
    client = client("5s", "200ms");
  }

  @AfterEach
  void close() {
    client.close();
  }

  private TakoClient client(String timeout, String connectTimeout) throws TakoException {
    TakoConfig config =
        new TakoConfig()
            .set("fs.tako.client.timeout", timeout)
            .set("fs.tako.client.connect.timeout", connectTimeout)
            .set("fs.tako.client.backoff.min", "1ms");
    return new TakoClient(URI.create("tako://fake:1"), config, "alice", server);
  }

  private static Status statusOf(Throwable failure) {
    assertThat(failure).isInstanceOf(TakoException.class);
    return ((TakoException) failure).status();
  }

  @Test
  void shouldConnectWithTheFirstCallOnly() throws TakoException {
    assertThat(server.sessionCount()).isEqualTo(0);
    client.mkdirs("/a");
    assertThat(server.sessionCount()).isEqualTo(1);
    assertThat(client.transportVerdict()).contains("fake");
  }

  @Test
  void shouldNotWaitUntilItsDeadlineForAQuotaThatIsFull() throws TakoException {
    try (TakoClient patient = client("1s", "200ms")) {
      server.beReclaiming();
      assertThat(statusOf(catchThrowable(() -> patient.mkdirs("/a"))))
          .isEqualTo(Status.QUOTA_EXCEEDED);
    }
  }

  @Test
  void shouldSendARequestAgainThatWasLost() throws TakoException {
    server.failNext(Fault.LOSE_REQUEST);
    client.mkdirs("/a");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(1);
  }

  @Test
  void shouldExecuteOnceWhenTheReplyIsLost() throws TakoException {
    client.mkdirs("/a");
    server.failNext(Fault.LOSE_REPLY);
    client.mkdirs("/b");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
    assertThat(server.sessionCount()).isEqualTo(1);
  }

  @Test
  void shouldCarryOnWhenTheServerRefusesConnectionsForAWhile() throws TakoException {
    client.mkdirs("/a");
    server.disconnectAll();
    server.refuseConnections(5);
    client.mkdirs("/b");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
  }

  @Test
  void shouldTryAgainWhileTheServerStarts() throws TakoException {
    server.beUnavailable(3);
    client.mkdirs("/a");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(1);
  }

  @Test
  void shouldOpenANewSessionWhenTheServerForgotTheOld() throws TakoException {
    client.mkdirs("/a");
    server.expireSessions();
    client.mkdirs("/b");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
    server.expireSessions();
    server.disconnectAll();
    client.mkdirs("/c");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(3);
  }

  @Test
  void shouldSayThatTheOutcomeIsUnknownWhenTheSessionEndedInDoubt() throws TakoException {
    client.mkdirs("/a");
    server.failNext(Fault.LOSE_REPLY_AND_SESSION);
    Throwable failure = catchThrowable(() -> client.mkdirs("/b"));
    assertThat(statusOf(failure)).isEqualTo(Status.SESSION_EXPIRED);
    assertThat(failure).hasMessageContaining("/b").hasMessageContaining("unknown");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
    client.mkdirs("/c");
  }

  @Test
  void shouldRepeatQueriesWhateverHappened() throws TakoException {
    client.create("/f", CreateOptions.DEFAULT).close();
    server.failNext(Fault.LOSE_REPLY_AND_SESSION);
    assertThat(client.getStatus("/f").length()).isEqualTo(0);
  }

  @Test
  @Timeout(30)
  void shouldReconnectForACallThatAllNumbersWaitFor() throws Exception {
    client.create("/file", CreateOptions.DEFAULT).close();
    client.mkdirs("/first");
    server.failNext(Fault.STALL);
    CompletableFuture<Void> slow = Background.run(() -> client.mkdirs("/slow"));
    Background.awaitUntil(() -> server.stalled() == 1);
    for (int i = 1; i < CallNumbers.WINDOW; i++) {
      client.mkdirs("/" + i);
    }
    assertThat(client.getStatus("/file").length()).as("queries wait for nobody").isZero();
    server.disconnectAll();
    slow.get(10, TimeUnit.SECONDS);
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(1 + CallNumbers.WINDOW);
  }

  @Test
  @Timeout(30)
  void shouldReconnectForMoreThreadsThanCallsMayBeUnderWay() throws Exception {
    client.mkdirs("/first");
    server.failNext(Fault.STALL);
    List<CompletableFuture<Void>> calls = new ArrayList<>();
    calls.add(Background.run(() -> client.mkdirs("/slow")));
    Background.awaitUntil(() -> server.stalled() == 1);
    for (int i = 0; i < CallNumbers.WINDOW + 20; i++) {
      String path = "/" + i;
      calls.add(Background.run(() -> client.mkdirs(path)));
    }
    Background.awaitUntil(() -> server.executions(OperationCase.MKDIRS) == CallNumbers.WINDOW);
    server.disconnectAll();
    for (CompletableFuture<Void> call : calls) {
      call.get(10, TimeUnit.SECONDS);
    }
    assertThat(server.sessionCount()).isEqualTo(1);
  }

  @Test
  void shouldConnectInSpiteOfAnInterruptAndKeepIt() throws TakoException {
    Thread.currentThread().interrupt();
    client.mkdirs("/a");
    assertThat(Thread.interrupted()).isTrue();

    server.disconnectAll();
    server.refuseConnections(5);
    Thread.currentThread().interrupt();
    client.mkdirs("/b");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
  }

  @Test
  void shouldTryAgainInSpiteOfAnInterruptAndKeepIt() throws TakoException {
    server.beUnavailable(3);
    Thread.currentThread().interrupt();
    client.mkdirs("/a");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void shouldAcknowledgeWhatIsOver() throws TakoException {
    for (int i = 0; i < 10; i++) {
      client.mkdirs("/" + i);
    }
    assertThat(server.lastAcknowledged()).isEqualTo(10);
  }

  @Test
  void shouldNameOperationPathServerAndCause() {
    assertThatThrownBy(() -> client.getStatus("/missing"))
        .hasMessageContaining("stat")
        .hasMessageContaining("/missing")
        .hasMessageContaining("fake:1")
        .hasMessageContaining("no such file");
  }

  @Test
  void shouldGiveUpSoonWhenNobodyWasEverThere() throws TakoException {
    server.refuseConnections(Integer.MAX_VALUE);
    try (TakoClient stranger = client("1h", "20ms")) {
      assertThatThrownBy(() -> stranger.mkdirs("/a"))
          .hasMessageContaining("fake:1")
          .hasMessageContaining("connection refused");
    }
  }

  @Test
  void shouldGiveUpAtTheDeadline() throws TakoException {
    try (TakoClient hasty = client("50ms", "10ms")) {
      hasty.mkdirs("/a");
      server.disconnectAll();
      server.refuseConnections(Integer.MAX_VALUE);
      assertThatThrownBy(() -> hasty.mkdirs("/b"))
          .hasMessageContaining("/b")
          .hasMessageContaining("connection refused");
    }
  }

  @Test
  void shouldRefuseCallsAfterClose() throws TakoException {
    client.mkdirs("/a");
    client.close();
    assertThatThrownBy(() -> client.mkdirs("/b")).hasMessageContaining("closed");
  }

  @Test
  void shouldRenewLeasesWhileAFileIsOpenForWriting() throws TakoException {
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      Background.awaitUntil(() -> server.executions(OperationCase.RENEW_LEASES) >= 3);
      assertThat(out.getPos()).isEqualTo(0);
    }
  }

  @Test
  void shouldWaitForOneDeadlineOnlyWhenClosingAFileWithoutAServer() throws IOException {
    try (TakoClient impatient = client("50ms", "10ms")) {
      TakoOutputStream out = impatient.create("/f", CreateOptions.DEFAULT);
      out.write(new byte[100_000]);
      server.disconnectAll();
      server.refuseConnections(Integer.MAX_VALUE);
      Throwable failure = catchThrowable(out::close);
      assertThat(statusOf(failure)).isIn(Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED);
      // A second wait, to give the lease back, would have failed as well.
      assertThat(failure.getSuppressed()).isEmpty();
      server.refuseConnections(0);
    }
  }

  @Test
  void shouldReleaseTheLeaseOfAFileThatCouldNotBeClosed() throws IOException {
    try (TakoClient impatient = client("50ms", "10ms")) {
      TakoOutputStream out = impatient.create("/f", CreateOptions.DEFAULT);
      out.write(new byte[100_000]);
      server.beUnavailable(Integer.MAX_VALUE);
      assertThat(statusOf(catchThrowable(out::close))).isEqualTo(Status.UNAVAILABLE);
      assertThat(server.isOpenForWriting("/f")).isTrue();
      server.beUnavailable(0);
      long giveUp = System.nanoTime() + 20_000_000_000L;
      while (server.isOpenForWriting("/f")) {
        assertThat(System.nanoTime() - giveUp).describedAs("still open").isLessThan(0);
        LockSupport.parkNanos(1_000_000);
      }
      impatient.append("/f").close();
    }
  }

  @Test
  void shouldSayWhomTheServerTakesItsUserFor() throws TakoException {
    assertThat(client.isSuperuser()).isFalse();
    assertThat(client.groups()).containsExactly("people");
    server.trustEverybody();
    server.disconnectAll();
    assertThat(client.isSuperuser()).isTrue();
    assertThat(server.sessionCount()).isEqualTo(1);
  }

  @Test
  void shouldAddUpWhatASummarySaysInParts() throws TakoException {
    server.failNext(Fault.LOSE_REPLY);
    ContentSummary sum = client.contentSummary("/tree");
    assertThat(sum).isEqualTo(new ContentSummary(2 * 7, 2 * 7, 7, 3 * 2 * 7));
    // Seven parts; what changes nothing is done again when its reply was lost.
    assertThat(server.executions(OperationCase.GET_CONTENT_SUMMARY)).isEqualTo(7 + 1);
  }
}
