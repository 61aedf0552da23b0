package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.Append;
import io.takofs.proto.Caller;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Create;
import io.takofs.proto.Delete;
import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GetFile;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RecoverLease;
import io.takofs.proto.Rename;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.Slabs;
import io.takofs.server.namespace.operation.Replies;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.List;

/** A state machine with a log that commits at once, and clients that call it. */
final class Harness {
  static final String SUPERUSER = "hdfs";
  static final long MIB = 1 << 20;

  final List<Long> arenas;
  final List<LogEntry> log = new ArrayList<>();
  final List<Reply> replies = new ArrayList<>();
  final Limits limits = Limits.defaults(SUPERUSER);
  Store store;
  StateMachine machine;
  long timeMs = 1_000_000;
  List<Long> lapsed = List.of();

  Harness() {
    this(new HeapStore(Long.MAX_VALUE), List.of(16 * MIB, 8 * MIB));
  }

  /** An empty store is formatted, and gets the slabs of these arenas. */
  Harness(Store store, List<Long> arenas) {
    this.arenas = arenas;
    restart(store);
    if (machine.limits() == null) {
      assertOk(apply(LogEntry.newBuilder().setFormatGroup(limits.toProto(1))));
      Slabs.of(1, arenas)
          .forEach(slab -> assertOk(apply(LogEntry.newBuilder().setAddSlab(slab.setWanted(1)))));
    }
  }

  /** Begins again from the records and their summary. */
  void restart() {
    store.checkpoint(log.size());
    restart(store);
  }

  /** Goes on with what {@code store} has. */
  void restart(Store store) {
    this.store = store;
    machine = new StateMachine(store);
    store.onCheckpoint(machine::summarize);
  }

  Reply apply(LogEntry.Builder entry) {
    entry.setTimeMs(++timeMs).addAllLapsedClients(lapsed);
    log.add(entry.build());
    replies.add(machine.apply(log.size(), entry.build()));
    return replies.get(replies.size() - 1);
  }

  Reply reclaim(int limit) {
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry.getReclaimBuilder().setLimit(limit);
    return apply(entry);
  }

  Reply expireSession(long clientId) {
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry.getExpireSessionBuilder().setClientId(clientId);
    return apply(entry);
  }

  Reply expireLeases(long clientId) {
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry.getExpireLeasesBuilder().setClientId(clientId);
    return apply(entry);
  }

  /** Frees everything in quarantine, whoever may still write it. */
  Reply freeAll() {
    LogEntry.Builder entry = LogEntry.newBuilder();
    for (Quarantined extent : machine.quarantined(Long.MAX_VALUE, Integer.MAX_VALUE)) {
      entry
          .getFreeExtentsBuilder()
          .addExtents(extent.range().toProto().setGeneration(extent.generation()));
    }
    return entry.hasFreeExtents() ? apply(entry) : Replies.done();
  }

  void reclaimAll() {
    while (machine.reclaimPending()) {
      reclaim(100);
    }
    freeAll();
  }

  /** Makes {@code /home} of ann and the group staff. */
  void makeHome(int permission) {
    Client root = superuser();
    assertOk(root.mkdirs("/home"));
    assertOk(
        root.set(attributes("/home").setOwner("ann").setGroup("staff").setPermission(permission)));
  }

  /** To be given what is to be set there. */
  static SetAttributes.Builder attributes(String path) {
    return SetAttributes.newBuilder().setPath(path);
  }

  long free() {
    return machine.usage().getFree();
  }

  Client superuser() {
    return client(SUPERUSER, true);
  }

  Client client(String user, String... groups) {
    return client(user, false, groups);
  }

  private Client client(String user, boolean superuser, String... groups) {
    Caller caller =
        Caller.newBuilder()
            .setUser(user)
            .addAllGroups(List.of(groups))
            .setSuperuser(superuser)
            .build();
    LogEntry.Builder entry = LogEntry.newBuilder().setCaller(caller);
    entry
        .getRequestBuilder()
        .setOpenSession(OpenSessionRequest.newBuilder().setUser(user).setClientName("test"));
    return new Client(caller, apply(entry).getSession().getClientId());
  }

  /** One session. */
  final class Client {
    final Caller caller;
    final long id;
    long sequence;
    long acknowledged;

    Client(Caller caller, long id) {
      this.caller = caller;
      this.id = id;
    }

    /** Executes once; the result of the call before is acknowledged. */
    Reply call(Request.Builder request) {
      long acknowledgedBelow = acknowledged;
      acknowledged = ++sequence;
      return apply(entry(request.setAcknowledgedBelow(acknowledgedBelow), sequence));
    }

    LogEntry.Builder entry(Request.Builder request, long sequence) {
      return LogEntry.newBuilder()
          .setClientId(id)
          .setSequence(sequence)
          .setCaller(caller)
          .setRequest(request);
    }

    Reply query(Request.Builder request) {
      return machine.query(caller, request.build());
    }

    Reply mkdirs(String path) {
      return mkdirs(path, 0755);
    }

    Reply mkdirs(String path, int permission) {
      return call(
          Request.newBuilder()
              .setMkdirs(
                  Mkdirs.newBuilder()
                      .setPath(path)
                      .setPermission(permission)
                      .setCreateParents(true)));
    }

    Reply create(Create.Builder create) {
      return call(Request.newBuilder().setCreate(create));
    }

    Reply create(String path) {
      return create(Create.newBuilder().setPath(path).setPermission(0644));
    }

    /** A new file, open. */
    OpenedFile opened(String path) {
      Reply reply = create(path);
      assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
      return reply.getOpenedFile();
    }

    /** A new closed file of {@code bytes}, in extents as they are granted. */
    FileInfo file(String path, long bytes) {
      OpenedFile opened = opened(path);
      CommitExtents.Builder commit = Harness.commit(opened).setLength(bytes).setClose(true);
      long end = 0;
      while (end < bytes) {
        for (Extent grant : granted(grant(opened, bytes - end))) {
          int length = (int) Math.min(grant.getCapacity(), bytes - end);
          commit.addExtents(written(grant, end, length));
          end += length;
        }
      }
      return committed(commit);
    }

    /** A new closed file of full extents of 1 MiB, at least {@code extents}. */
    FileInfo fileOfExtents(String path, int extents) {
      OpenedFile opened = opened(path);
      long end = 0;
      while (end < extents * MIB) {
        CommitExtents.Builder commit = Harness.commit(opened);
        for (Extent grant : granted(grant(opened, 16 * MIB))) {
          commit.addExtents(written(grant, end, grant.getCapacity()));
          end += grant.getCapacity();
        }
        committed(commit.setLength(end));
      }
      return committed(Harness.commit(opened).setLength(end).setClose(true));
    }

    Reply append(String path) {
      return call(Request.newBuilder().setAppend(Append.newBuilder().setPath(path)));
    }

    Reply grant(OpenedFile file, long bytes) {
      return grant(file, GrantExtents.newBuilder().setBytes(bytes));
    }

    Reply grant(OpenedFile file, GrantExtents.Builder request) {
      return call(
          Request.newBuilder()
              .setGrantExtents(
                  request.setFileId(file.getFile().getId()).setLeaseEpoch(file.getLeaseEpoch())));
    }

    private List<Extent> granted(Reply reply) {
      assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
      return reply.getGrants().getExtentsList();
    }

    /** The only extent of a grant of {@code bytes}. */
    Extent granted(OpenedFile file, long bytes) {
      Reply reply = grant(file, bytes);
      assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
      assertThat(reply.getGrants().getExtentsCount()).isEqualTo(1);
      return reply.getGrants().getExtents(0);
    }

    Reply commit(CommitExtents.Builder commit) {
      return call(Request.newBuilder().setCommitExtents(commit));
    }

    FileInfo committed(CommitExtents.Builder commit) {
      Reply reply = commit(commit);
      assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
      return reply.getFile();
    }

    /** Closes a file with {@code data} inline. */
    FileInfo closeInline(OpenedFile file, String data) {
      return committed(
          Harness.commit(file)
              .setInlineData(ByteString.copyFromUtf8(data))
              .setLength(data.length())
              .setClose(true)
              .setAllWritesCompleted(true));
    }

    Reply rename(String source, String target, boolean overwrite) {
      return call(
          Request.newBuilder()
              .setRename(
                  Rename.newBuilder().setSource(source).setTarget(target).setOverwrite(overwrite)));
    }

    Reply delete(String path, boolean recursive) {
      return call(
          Request.newBuilder()
              .setDelete(Delete.newBuilder().setPath(path).setRecursive(recursive)));
    }

    /** Logs a call part by part, as the server does. */
    Reply deleteFiles(String base, List<String> names) {
      Request.Builder call = Request.newBuilder().setAcknowledgedBelow(acknowledged);
      call.getDeleteFilesBuilder().setBase(base).addAllNames(names);
      acknowledged = ++sequence;
      return goOn(call.build(), Integer.MAX_VALUE);
    }

    /**
     * Logs up to {@code parts} parts more of the last call, unless it is done; its reply so far.
     */
    Reply goOn(Request call, int parts) {
      try {
        Reply reply = machine.recorded(id, sequence, call);
        for (int i = 0; i < parts && (reply == null || StateMachine.isPartial(reply)); i++) {
          reply = apply(entry(StateMachine.next(call, reply).toBuilder(), sequence));
        }
        return reply;
      } catch (TakoException e) {
        throw new AssertionError(e);
      }
    }

    Reply truncate(Truncate.Builder truncate) {
      return call(Request.newBuilder().setTruncate(truncate));
    }

    Reply set(SetAttributes.Builder attributes) {
      return call(Request.newBuilder().setSetAttributes(attributes));
    }

    Reply recoverLease(String path) {
      return call(Request.newBuilder().setRecoverLease(RecoverLease.newBuilder().setPath(path)));
    }

    Reply stat(String path) {
      return query(Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path)));
    }

    FileInfo info(String path) {
      Reply reply = stat(path);
      assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
      return reply.getFile();
    }

    Reply list(String path, String after, int limit) {
      return query(
          Request.newBuilder()
              .setList(
                  io.takofs.proto.List.newBuilder()
                      .setPath(path)
                      .setStartAfter(after)
                      .setLimit(limit)));
    }

    /** All names in a directory. */
    List<String> names(String path) {
      return Listed.names(list(path, "", 0));
    }

    Reply extents(GetExtents.Builder request) {
      return query(Request.newBuilder().setGetExtents(request));
    }

    List<Extent> extents(String path) {
      return extents(GetExtents.newBuilder().setPath(path)).getExtentMap().getExtentsList();
    }

    /** The reply to the first call for a summary: everything, when the tree is small. */
    Reply summary(String path) {
      return summary(GetContentSummary.newBuilder().setPath(path));
    }

    Reply summary(GetContentSummary.Builder request) {
      return query(Request.newBuilder().setGetContentSummary(request));
    }
  }

  static CommitExtents.Builder commit(OpenedFile file) {
    return CommitExtents.newBuilder()
        .setFileId(file.getFile().getId())
        .setLeaseEpoch(file.getLeaseEpoch());
  }

  /** The report of a client on an extent it wrote. */
  static Extent written(Extent grant, long fileOffset, int length) {
    return grant.toBuilder()
        .clearGrant()
        .setFileOffset(fileOffset)
        .setLength(length)
        .setChecksumsCrc(31 * grant.getOffset() + length)
        .setTailCrc(length % 4096)
        .build();
  }
}
