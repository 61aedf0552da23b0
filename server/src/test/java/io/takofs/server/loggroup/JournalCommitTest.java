package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.GetFile;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.peer.DataServers;
import io.takofs.server.store.PagedStores;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A log that commits later: entries have their effect at once, and nothing tells of it before. */
class JournalCommitTest {
  private static final Caller ROOT = Caller.newBuilder().setUser("root").setSuperuser(true).build();
  private static final long TERM = 3;

  private final ManualLog log = new ManualLog();
  private final PagedStores pages = new PagedStores(1024);
  private final List<String> done = new ArrayList<>();
  private Store store;
  private StateMachine machine;
  private Journal journal;
  private long client;
  private long sequence;

  @BeforeEach
  void begin() throws Exception {
    store = pages.open();
    machine = new StateMachine(store);
    journal = new Journal(Clock.SYSTEM, log, store, machine, new Counters(), Long.MAX_VALUE);
    journal.recover();
    journal.lead(TERM);
    log.acknowledge(2);
    journal.execute(
        LogEntry.newBuilder().setFormatGroup(Limits.defaults("root").toProto(1)).build());
    client =
        execute(
                Request.newBuilder()
                    .setOpenSession(
                        OpenSessionRequest.newBuilder().setUser("root").setClientName("test"))
                    .build())
            .getSession()
            .getClientId();
  }

  private Reply execute(Request request) throws TakoException {
    return journal.execute(
        LogEntry.newBuilder()
            .setClientId(client)
            .setSequence(request.hasOpenSession() ? 0 : ++sequence)
            .setTimeMs(1)
            .setCaller(ROOT)
            .setRequest(request)
            .build());
  }

  private Ticket mkdirs(String path) throws TakoException {
    Request request =
        Request.newBuilder()
            .setMkdirs(Mkdirs.newBuilder().setPath(path).setPermission(0755))
            .build();
    assertThat(execute(request).getStatus()).isEqualTo(Status.OK);
    return journal.ticket();
  }

  private Status stat(String path) {
    Request request = Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path)).build();
    return machine.query(ROOT, request).getStatus();
  }

  private void whenCommitted(String what) {
    journal.whenCommitted(() -> done.add(what));
  }

  @Test
  void shouldGoOnWithSeveralTicketsOutstandingAndTellOfEachWhenItIsCommitted() throws Exception {
    whenCommitted("nothing outstanding");
    Ticket a = mkdirs("/a");
    whenCommitted("a");
    Ticket b = mkdirs("/b");
    whenCommitted("b");
    whenCommitted("a query after b");
    Ticket c = mkdirs("/c");
    whenCommitted("c");

    assertThat(List.of(a, b, c))
        .containsExactly(new Ticket(3, TERM), new Ticket(4, TERM), new Ticket(5, TERM));
    assertThat(stat("/c")).isEqualTo(Status.OK);
    journal.poll();
    assertThat(done).containsExactly("nothing outstanding");

    log.acknowledge(4);
    assertThat(journal.isCommitted(a)).isFalse(); // it has not learned it yet
    journal.poll();
    assertThat(journal.isCommitted(b)).isTrue();
    assertThat(journal.isCommitted(c)).isFalse();
    assertThat(done).containsExactly("nothing outstanding", "a", "b", "a query after b");

    log.acknowledge(5);
    journal.poll();
    journal.poll();
    assertThat(done).hasSize(5).endsWith("c");
    assertThat(machine.directories()).isEqualTo(4); // each was applied once
  }

  @Test
  void shouldCommitAtOnceWhereTheLogDoes() throws Exception {
    log.acknowledge(Long.MAX_VALUE);
    Ticket ticket = mkdirs("/a");
    assertThat(journal.isCommitted(ticket)).isTrue();
    whenCommitted("a");
    assertThat(done).containsExactly("a");
  }

  @Test
  void shouldAskServersWhenAllThatTheLeaderKnowsIsCommitted() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    DataServers servers =
        new CommittedServers(
            new DataServers() {
              @Override
              public void call(int serverId, Request request, Consumer<Reply> answer) {
                done.add("asked " + serverId);
                if (serverId == 2) {
                  throw new IllegalStateException("as the test wants it");
                }
                answer.accept(Reply.getDefaultInstance());
              }

              @Override
              public void deliver() {}

              @Override
              public List<ServerEntry> servers() {
                return List.of();
              }

              @Override
              public void emptied(int serverId) {
                done.add("emptied " + serverId);
              }
            },
            journal,
            over::get);
    servers.call(1, Request.getDefaultInstance(), reply -> done.add("at once"));
    assertThat(done).containsExactly("asked 1", "at once");
    done.clear();

    mkdirs("/a");
    servers.call(1, Request.getDefaultInstance(), reply -> done.add("later"));
    servers.call(2, Request.getDefaultInstance(), reply -> done.add(reply.getStatus().name()));
    servers.emptied(3);
    assertThat(done).isEmpty();
    log.acknowledge(3);
    journal.poll();
    assertThat(done).containsExactly("asked 1", "later", "asked 2", "UNAVAILABLE", "emptied 3");
    done.clear();
    over.set(true);
    servers.call(1, Request.getDefaultInstance(), reply -> done.add("to nobody"));
    assertThat(done).containsExactly("asked 1");
  }

  /** It led, and the log of the next leader begins after what is committed of it. */
  @Test
  void shouldMakeItsStateAgainWhenACheckpointIsNeededBeforeAllIsCommitted() throws Exception {
    mkdirs("/a");
    mkdirs("/b");
    journal.follow();
    log.acknowledge(3);
    journal.applyCommitted();
    assertThat(journal.hasDiverged()).as("nobody needs a checkpoint").isFalse();

    log.needsCheckpoint = true;
    journal.applyCommitted();

    assertThat(journal.hasDiverged()).isTrue();
    assertThat(journal.checkpointing()).isFalse();
  }

  @Test
  void shouldBeginACheckpointThatIsNeededWhenAllIsCommitted() throws Exception {
    mkdirs("/a");
    journal.follow();
    log.acknowledge(3);
    log.needsCheckpoint = true;
    journal.applyCommitted();
    assertThat(journal.hasDiverged()).isFalse();
    assertThat(journal.checkpointing()).isTrue();
  }

  @Test
  void shouldMakeItsStateAgainForAMemberThatNeedsACheckpointUnlessItLeads() throws Exception {
    mkdirs("/a");
    journal.beginCheckpointForAnother();
    assertThat(journal.checkpointing()).isTrue();
    assertThat(journal.hasDiverged()).isFalse();
    journal.follow();
    journal.beginCheckpointForAnother();
    assertThat(journal.hasDiverged()).isTrue();
  }

  @Test
  void shouldFinishACheckpointWhenWhatItHasIsCommitted() throws Exception {
    mkdirs("/a");
    journal.checkpoint();
    assertThat(store.checkpointIndex()).isZero();
    journal.beginCheckpoint();
    mkdirs("/b");
    log.acknowledge(2);
    journal.advanceCheckpoint(Integer.MAX_VALUE);
    assertThat(journal.checkpointing()).isTrue();
    assertThat(store.checkpointIndex()).isZero();

    log.acknowledge(3);
    journal.poll();
    journal.advanceCheckpoint(Integer.MAX_VALUE);
    assertThat(journal.checkpointing()).isFalse();
    assertThat(store.checkpointIndex()).isEqualTo(3);
    machine = new StateMachine(pages.open());
    assertThat(stat("/a")).isEqualTo(Status.OK);
    assertThat(stat("/b")).isEqualTo(Status.NOT_FOUND);
  }

  @Test
  void shouldAskToWaitWhenAFullLogHasEntriesThatAreNotCommitted() throws Exception {
    log.room = 3;
    mkdirs("/a");
    assertThatThrownBy(() -> mkdirs("/b"))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE)
        .hasMessageContaining("until entries are committed");
    assertThat(journal.checkpointing()).isTrue();
    log.acknowledge(Long.MAX_VALUE);
    journal.poll();
    journal.advanceCheckpoint(Integer.MAX_VALUE);
    mkdirs("/b");
    mkdirs("/c");
    mkdirs("/d");
    mkdirs("/e"); // a full log whose entries are committed is trimmed at once
    assertThat(stat("/e")).isEqualTo(Status.OK);
  }

  @Test
  void shouldDivergeWhenAnotherLeadersEntryStandsWhereOneWasApplied() throws Exception {
    mkdirs("/a");
    whenCommitted("a");
    log.replaceLast(TERM + 1);
    log.acknowledge(3);
    journal.poll();
    assertThat(journal.hasDiverged()).isTrue();
    assertThat(done).isEmpty();
    assertThatThrownBy(() -> mkdirs("/b")).hasFieldOrPropertyWithValue("status", Status.NOT_LEADER);
    journal.checkpoint();
    journal.applyCommitted();
    journal.advanceCheckpoint(Integer.MAX_VALUE);
    assertThat(store.checkpointIndex()).isZero(); // what it has was never committed
  }
}
