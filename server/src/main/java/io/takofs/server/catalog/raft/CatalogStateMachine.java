package io.takofs.server.catalog.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.CatalogChange;
import io.takofs.proto.CatalogValues;
import io.takofs.server.catalog.CatalogCommand;
import io.takofs.server.catalog.CatalogState;
import io.takofs.server.catalog.ConfigStore;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;

/**
 * Applies the log to a {@link CatalogState}. The leader writes its clock into each entry, so that
 * all peers end a lease with the same entry.
 *
 * <p>Thread rule: Ratis' threads, several at once.
 */
final class CatalogStateMachine extends BaseStateMachine {
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final Clock clock;
  private CatalogState state = new CatalogState();

  /**
   * @param clock of the entries that this peer proposes as the leader
   */
  CatalogStateMachine(Clock clock) {
    this.clock = clock;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId catalog, RaftStorage raftStorage)
      throws IOException {
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(server, catalog, raftStorage);
              storage.init(raftStorage);
              load();
            });
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    load();
    if (getLifeCycleState() == LifeCycle.State.PAUSED) {
      getLifeCycle().transition(LifeCycle.State.STARTING);
      getLifeCycle().transition(LifeCycle.State.RUNNING);
    }
  }

  @Override
  public void close() {
    if (getLifeCycleState() != LifeCycle.State.NEW) {
      getLifeCycle().checkStateAndClose();
    }
  }

  private synchronized void load() throws IOException {
    SingleFileSnapshotInfo snapshot = storage.loadLatestSnapshot();
    if (snapshot == null) {
      return;
    }
    File file = snapshot.getFile().getPath().toFile();
    MD5FileUtil.verifySavedMD5(file, snapshot.getFile().getFileDigest());
    state = CatalogState.decode(Files.readAllBytes(file.toPath()));
    setLastAppliedTermIndex(snapshot.getTermIndex());
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  @Override
  public long takeSnapshot() throws IOException {
    byte[] bytes;
    TermIndex last;
    synchronized (this) {
      last = getLastAppliedTermIndex();
      bytes = state.encode();
    }
    if (last.getIndex() < 0) {
      return last.getIndex();
    }
    Path file = storage.getSnapshotFile(last.getTerm(), last.getIndex()).toPath();
    Path part = file.resolveSibling("part." + file.getFileName());
    try (FileChannel channel =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer left = ByteBuffer.wrap(bytes);
      while (left.hasRemaining()) {
        channel.write(left);
      }
      channel.force(true);
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    FileInfo info = new FileInfo(file, MD5FileUtil.computeAndSaveMd5ForFile(file.toFile()));
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(info, last));
    return last.getIndex();
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
    CatalogChange change =
        CatalogChange.parseFrom(request.getMessage().getContent().toByteArray()).toBuilder()
            .setTimeMs(clock.currentTimeMillis())
            .build();
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setClientRequest(request)
        .setLogData(ByteString.copyFrom(change.toByteArray()))
        .build();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    byte[] bytes = entry.getStateMachineLogEntry().getLogData().toByteArray();
    long version;
    try {
      version = apply(CatalogChange.parseFrom(bytes), entry);
    } catch (InvalidProtocolBufferException e) {
      return CompletableFuture.failedFuture(e);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(new UncheckedIOException(e));
    }
    byte[] result = ByteBuffer.allocate(Long.BYTES).putLong(version).array();
    return CompletableFuture.completedFuture(Message.valueOf(ByteString.copyFrom(result)));
  }

  private synchronized long apply(CatalogChange change, LogEntryProto entry) throws TakoException {
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    long now = change.getTimeMs();
    state.expired(now).forEach(command -> state.apply(command, now));
    CatalogCommand command = CatalogEntries.command(change);
    return command.kind() == CatalogCommand.Kind.EXPIRE
        ? ConfigStore.ABSENT
        : state.apply(command, now);
  }

  /** The version that {@link #applyTransaction} answered with. */
  static long version(Message answer) {
    return answer.getContent().asReadOnlyByteBuffer().getLong();
  }

  @Override
  public CompletableFuture<Message> query(Message request) {
    CatalogValues values;
    synchronized (this) {
      values = CatalogEntries.values(state, clock.currentTimeMillis());
    }
    return CompletableFuture.completedFuture(
        Message.valueOf(ByteString.copyFrom(values.toByteArray())));
  }
}
