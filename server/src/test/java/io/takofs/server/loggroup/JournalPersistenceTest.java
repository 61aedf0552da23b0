package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Caller;
import io.takofs.proto.GetFile;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.SegmentedLog;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.store.PagedStores;
import io.takofs.server.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The log's medium fails while an entry is made persistent. */
class JournalPersistenceTest {
  private static final Caller ROOT = Caller.newBuilder().setUser("root").setSuperuser(true).build();
  private static final int SLOTS = 4;
  private static final int SLOT_BYTES = Layout.SEGMENT_DATA_OFFSET + (64 << 10);

  private final PagedStores pages = new PagedStores(1024);
  private final ByteBuffer[] slots = new ByteBuffer[SLOTS];
  private int incarnation;
  private boolean failing;
  private byte[][] persistent;

  private StateMachine machine;
  private Journal journal;
  private long client;

  @BeforeEach
  void begin() throws Exception {
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = ByteBuffer.allocateDirect(SLOT_BYTES);
    }
    start();
    client =
        execute(
                0,
                0,
                Request.newBuilder()
                    .setOpenSession(
                        OpenSessionRequest.newBuilder().setUser("root").setClientName("test"))
                    .build())
            .getSession()
            .getClientId();
  }

  private void persist(int slot, int offset, int length) throws IOException {
    if (failing) {
      throw new IOException("as the test wants it");
    }
  }

  private void start() throws Exception {
    Store store = pages.open();
    machine = new StateMachine(store);
    SegmentedLog log =
        SegmentedLog.open(
            new LogZone(slots, this::persist),
            new LogIdentity(1, ++incarnation),
            store.checkpointIndex());
    journal = new Journal(Clock.SYSTEM, log, store, machine, new Counters(), Long.MAX_VALUE);
    journal.recover();
    journal.lead(incarnation);
    if (machine.limits() == null) {
      journal.execute(
          LogEntry.newBuilder().setFormatGroup(Limits.defaults("root").toProto(1)).build());
    }
  }

  private Reply execute(long clientId, long sequence, Request request) throws TakoException {
    return journal.execute(
        LogEntry.newBuilder()
            .setClientId(clientId)
            .setSequence(sequence)
            .setTimeMs(sequence)
            .setCaller(ROOT)
            .setRequest(request)
            .build());
  }

  private static Request mkdirs(String path) {
    return Request.newBuilder()
        .setMkdirs(Mkdirs.newBuilder().setPath(path).setPermission(0755))
        .build();
  }

  private Status stat(String path) {
    Request request = Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path)).build();
    return machine.query(ROOT, request).getStatus();
  }

  private void remember() {
    persistent = new byte[SLOTS][SLOT_BYTES];
    for (int i = 0; i < SLOTS; i++) {
      slots[i].get(0, persistent[i]);
    }
  }

  private void forgetWhatIsNotPersistent() {
    for (int i = 0; i < SLOTS; i++) {
      slots[i].put(0, persistent[i]);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldExecuteNothingAfterAnEntryThatIsNotPersistentUntilTheServerStartsAgain(boolean lost)
      throws Exception {
    assertThat(execute(client, 1, mkdirs("/a")).getStatus()).isEqualTo(Status.OK);
    remember();
    failing = true;
    assertThatThrownBy(() -> execute(client, 2, mkdirs("/b")))
        .isInstanceOf(UncheckedIOException.class);
    failing = false;
    // It must not be committed with what comes next.
    assertThatThrownBy(() -> execute(client, 3, mkdirs("/c")))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    journal.checkpoint();
    journal.beginCheckpoint();
    assertThat(journal.checkpointing()).isFalse();
    assertThat(stat("/b")).isEqualTo(Status.NOT_FOUND);
    assertThat(journal.failure()).isNotNull();
    if (lost) {
      forgetWhatIsNotPersistent();
    }
    start();
    assertThat(stat("/a")).isEqualTo(Status.OK);
    assertThat(stat("/c")).isEqualTo(Status.NOT_FOUND);
    assertThat(stat("/b")).isEqualTo(lost ? Status.NOT_FOUND : Status.OK);
    // The client calls again with the same number, and finds that it was done once.
    Reply again = execute(client, 2, mkdirs("/b"));
    assertThat(again.getStatus()).isEqualTo(Status.OK);
    assertThat(execute(client, 2, mkdirs("/b"))).isEqualTo(again);
    assertThat(stat("/b")).isEqualTo(Status.OK);
    assertThat(execute(client, 3, mkdirs("/c")).getStatus()).isEqualTo(Status.OK);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldExecuteNothingAfterACheckpointThatIsNotPersistent(boolean stepByStep)
      throws Exception {
    assertThat(execute(client, 1, mkdirs("/a")).getStatus()).isEqualTo(Status.OK);
    pages.failing = true;
    if (stepByStep) {
      journal.beginCheckpoint();
      assertThatThrownBy(() -> journal.advanceCheckpoint(Integer.MAX_VALUE))
          .isInstanceOf(UncheckedIOException.class);
    } else {
      assertThatThrownBy(journal::checkpoint).isInstanceOf(UncheckedIOException.class);
    }
    pages.failing = false;
    // Tried again it might seem to succeed, and the log would be cut.
    journal.advanceCheckpoint(Integer.MAX_VALUE);
    journal.checkpoint();
    assertThat(journal.failure()).contains("a checkpoint could not be written");
    assertThatThrownBy(() -> execute(client, 2, mkdirs("/b")))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
    start();
    assertThat(stat("/a")).isEqualTo(Status.OK);
    assertThat(execute(client, 2, mkdirs("/b")).getStatus()).isEqualTo(Status.OK);
  }

  @Test
  void shouldExecuteNothingAfterFileDataCouldNotBeMadePersistent() throws Exception {
    assertThat(execute(client, 1, mkdirs("/a")).getStatus()).isEqualTo(Status.OK);
    journal.stop("as the test wants it");
    journal.stop("what follows from it");
    assertThatThrownBy(() -> execute(client, 2, mkdirs("/b")))
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE)
        .hasMessageContaining("as the test wants it");
    journal.checkpoint();
    start();
    assertThat(stat("/a")).isEqualTo(Status.OK);
    assertThat(execute(client, 2, mkdirs("/b")).getStatus()).isEqualTo(Status.OK);
  }

  @Test
  void shouldGoOnAfterAnEntryThatIsTooLongForTheLog() throws Exception {
    assertThatThrownBy(() -> execute(client, 1, mkdirs("/" + "n".repeat(SLOT_BYTES))))
        .hasFieldOrPropertyWithValue("status", Status.INVALID_ARGUMENT);
    assertThat(execute(client, 1, mkdirs("/a")).getStatus()).isEqualTo(Status.OK);
  }
}
