package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;
import io.takofs.proto.GetExtents;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Random operations of several clients on few names, each compared with the reference. */
final class RandomWorkload {
  /** A file that a client believes it has open. */
  private static final class Writer {
    final Harness.Client client;
    final OpenedFile opened;
    final ReferenceModel.Node file;
    final List<Extent> grants = new ArrayList<>();

    Writer(Harness.Client client, OpenedFile opened, ReferenceModel.Node file) {
      this.client = client;
      this.opened = opened;
      this.file = file;
    }
  }

  private static final int CLIENTS = 3;
  static final String[] NAMES = {"a", "b", "c"};

  final Harness server;
  private final Random random;
  private final ReferenceModel model = new ReferenceModel();
  private final RandomAttributes attributes;
  private final List<Harness.Client> clients = new ArrayList<>();
  private final List<Writer> writers = new ArrayList<>();

  RandomWorkload(Harness server, long seed) {
    this.server = server;
    this.random = new Random(seed);
    this.attributes = new RandomAttributes(random, model);
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(server.superuser());
    }
  }

  void run(int operations) {
    for (int i = 0; i < operations; i++) {
      step();
    }
  }

  void step() {
    Harness.Client client = clients.get(random.nextInt(CLIENTS));
    switch (random.nextInt(24)) {
      case 0, 1, 2 -> mkdirs(client, path());
      case 3, 4, 5 -> create(client, path(), random.nextBoolean(), random.nextBoolean());
      case 6 -> append(client, path());
      case 7, 8, 9 -> rename(client, path(), path(), random.nextBoolean());
      case 10, 11 -> delete(client, path(), random.nextInt(3) == 0);
      case 12, 13, 14, 15 -> write(false);
      case 16 -> write(true);
      case 17 -> {
        if (random.nextBoolean()) {
          truncate(client, path());
        } else {
          concat();
        }
      }
      case 18 -> housekeeping();
      case 19, 20 -> attributes.change(client, path());
      case 21 -> attributes.changeQuota(client, path());
      case 22 -> deleteFiles(client, path());
      default -> rare(client);
    }
  }

  private String path() {
    StringBuilder path = new StringBuilder();
    int depth = random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(3);
    for (int i = 0; i < depth; i++) {
      path.append('/').append(NAMES[random.nextInt(NAMES.length)]);
    }
    return depth == 0 ? "/" : path.toString();
  }

  static Reply expect(Reply reply, Status expected, String what) {
    assertThat(reply.getStatus()).as("%s: %s", what, reply).isEqualTo(expected);
    return reply;
  }

  private void mkdirs(Harness.Client client, String path) {
    expect(client.mkdirs(path), model.mkdirs(path), "mkdirs " + path);
  }

  private void create(Harness.Client client, String path, boolean overwrite, boolean parents) {
    ReferenceModel.Node file = new ReferenceModel.Node(false);
    Status expected =
        path.equals("/")
            ? Status.ALREADY_EXISTS
            : model.create(client.id, path, overwrite, parents, file);
    Reply reply =
        client.create(
            Create.newBuilder()
                .setPath(path)
                .setPermission(0644)
                .setOverwrite(overwrite)
                .setReplication(1 + random.nextInt(3))
                .setCreateParents(parents));
    expect(reply, expected, "create " + path);
    if (expected == Status.OK) {
      file.epoch = reply.getOpenedFile().getLeaseEpoch();
      model.files.put(reply.getOpenedFile().getFile().getId(), file);
      writers.add(new Writer(client, reply.getOpenedFile(), file));
    }
  }

  private void append(Harness.Client client, String path) {
    Status expected = model.append(client.id, path);
    Reply reply = expect(client.append(path), expected, "append " + path);
    if (expected == Status.OK) {
      OpenedFile opened = reply.getOpenedFile();
      ReferenceModel.Node file = model.get(path);
      assertThat(opened.getInlineData()).isEqualTo(file.inline);
      file.epoch = opened.getLeaseEpoch();
      assertThat(opened.hasLastExtent() ? ungranted(opened.getLastExtent()) : null)
          .isEqualTo(file.growing());
      writers.add(new Writer(client, opened, file));
    }
  }

  private void rename(Harness.Client client, String source, String target, boolean overwrite) {
    expect(
        client.rename(source, target, overwrite),
        model.rename(source, target, overwrite),
        "rename " + source + " to " + target);
  }

  private void delete(Harness.Client client, String path, boolean recursive) {
    Status expected = model.delete(path, recursive);
    expect(client.delete(path, recursive), expected, "delete " + path);
    reclaim();
  }

  /** More than one entry deletes, and most of it is not there. */
  private void deleteFiles(Harness.Client client, String base) {
    List<String> names = new ArrayList<>();
    List<Integer> failed = new ArrayList<>();
    List<Status> reasons = new ArrayList<>();
    for (int i = random.nextInt(40); i > 0; i--) {
      String path = path();
      String name = random.nextInt(10) == 0 ? "" : path.substring(1);
      String whole = name.isEmpty() ? base : base.equals("/") ? path : base + path;
      Status status = model.delete(whole, false);
      if (status != Status.OK && status != Status.NOT_FOUND && status != Status.NOT_A_DIRECTORY) {
        failed.add(names.size());
        reasons.add(status);
      }
      names.add(name);
    }
    Reply reply = expect(client.deleteFiles(base, names), Status.OK, "delete in " + base);
    assertThat(reply.getDeleteResults().getFailedList()).isEqualTo(failed);
    assertThat(reply.getDeleteResults().getReasonsList()).isEqualTo(reasons);
    reclaim();
  }

  private void reclaim() {
    // A writer below a deleted directory learns of it when its file is reclaimed.
    while (server.machine.reclaimPending()) {
      server.reclaim(1 + random.nextInt(4));
    }
  }

  // ---- data -------------------------------------------------------------------------------------

  private void write(boolean close) {
    if (writers.isEmpty()) {
      return;
    }
    int chosen = random.nextInt(writers.size());
    Writer writer = writers.get(chosen);
    boolean holds = holds(writer);
    if (close || !holds) {
      writers.remove(chosen);
    }
    if (random.nextInt(3) == 0) {
      writeInline(writer, holds, close);
    } else {
      writeExtents(writer, holds, close);
    }
  }

  private static boolean holds(Writer writer) {
    return writer.file.writer == writer.client.id
        && writer.file.epoch == writer.opened.getLeaseEpoch();
  }

  /** The status for a writer without the lease. */
  private Status lost(Writer writer) {
    return clients.contains(writer.client) ? Status.LEASE_LOST : Status.SESSION_EXPIRED;
  }

  private void writeInline(Writer writer, boolean holds, boolean close) {
    ReferenceModel.Node file = writer.file;
    byte[] more = new byte[random.nextInt(100)];
    random.nextBytes(more);
    ByteString data = file.inline.concat(ByteString.copyFrom(more));
    boolean fits = data.size() <= server.limits.inlineMax();
    long length = file.length + more.length;
    Reply reply =
        writer.client.commit(
            commit(writer, close)
                .setInlineData(ByteString.copyFrom(more))
                .setInlineOffset(file.inline.size())
                .setLength(length));
    Status ok = fits ? Status.OK : Status.INVALID_ARGUMENT;
    expect(reply, holds ? ok : lost(writer), "inline commit");
    if (reply.getStatus() == Status.OK) {
      file.inline = data;
      committed(writer, length, close);
    }
  }

  private void writeExtents(Writer writer, boolean holds, boolean close) {
    ReferenceModel.Node file = writer.file;
    if (writer.grants.isEmpty()) {
      Reply granted = writer.client.grant(writer.opened, 1 + random.nextInt(3 * 65536));
      if (!holds) {
        expect(granted, lost(writer), "grant");
        return;
      }
      if (granted.getStatus() != Status.NO_SPACE) {
        expect(granted, Status.OK, "grant");
        writer.grants.addAll(granted.getGrants().getExtentsList());
      }
    }
    List<Extent> extents = new ArrayList<>(file.extents);
    List<Extent> changed = new ArrayList<>();
    long extentsEnd = file.length - file.inline.size();
    long end = extentsEnd;
    Extent growing = file.growing();
    int rest = growing == null ? 0 : (int) (file.length - growing.getFileOffset());
    if (growing != null && rest <= growing.getCapacity() && random.nextBoolean()) {
      Extent extent = extents.remove(extents.size() - 1);
      int length = rest + random.nextInt(extent.getCapacity() - rest + 1);
      changed.add(Harness.written(extent, extent.getFileOffset(), length));
      end = extent.getFileOffset() + length;
    }
    List<Extent> unused = new ArrayList<>(writer.grants);
    for (int use = random.nextInt(unused.size() + 1); use > 0; use--) {
      Extent grant = unused.remove(0);
      int least = (int) Math.max(1, file.length - end);
      int length = least + random.nextInt(grant.getCapacity() - least + 1);
      changed.add(Harness.written(grant, end, length));
      end += length;
    }
    boolean grows = end > extentsEnd;
    end = grows ? end : file.length;
    Reply reply = writer.client.commit(commit(writer, close).addAllExtents(changed).setLength(end));
    expect(reply, holds ? Status.OK : lost(writer), "commit");
    if (holds) {
      writer.grants.retainAll(unused);
      if (!changed.isEmpty()) {
        file.inline = grows ? ByteString.EMPTY : file.inline;
        extents.addAll(changed);
        file.extents = extents;
      }
      committed(writer, end, close);
    }
  }

  private CommitExtents.Builder commit(Writer writer, boolean close) {
    return Harness.commit(writer.opened)
        .setClose(close)
        .setAllWritesCompleted(random.nextBoolean());
  }

  private void committed(Writer writer, long length, boolean close) {
    ReferenceModel.Node file = writer.file;
    boolean quiet =
        server
            .log
            .get(server.log.size() - 1)
            .getRequest()
            .getCommitExtents()
            .getAllWritesCompleted();
    file.length = length;
    if (close) {
      file.writer = 0;
      if (!quiet) {
        file.seal();
      }
    }
  }

  private void truncate(Harness.Client client, String path) {
    Reply looked = client.extents(GetExtents.newBuilder().setPath(path));
    ReferenceModel.Node file = model.get(path);
    if (file == null || file.directory) {
      assertThat(looked.getStatus()).isNotEqualTo(Status.OK);
      return;
    }
    long length = file.length == 0 ? 0 : random.nextInt((int) file.length + 1);
    Truncate.Builder truncate =
        Truncate.newBuilder()
            .setPath(path)
            .setLength(length)
            .setExpectedVersion(looked.getExtentMap().getFile().getVersion());
    List<Extent> kept = new ArrayList<>();
    Set<Long> sealed = new HashSet<>();
    for (Extent extent : file.extents) {
      long rest = length - extent.getFileOffset();
      if (rest >= extent.getLength()) {
        kept.add(extent);
        if (file.sealed.contains(extent.getFileOffset())) {
          sealed.add(extent.getFileOffset());
        }
      } else if (rest > 0) {
        Extent last = Harness.written(extent, extent.getFileOffset(), (int) rest);
        truncate.setLastExtent(last);
        kept.add(last);
        sealed.add(extent.getFileOffset());
      }
    }
    boolean busy = file.writer != 0;
    expect(client.truncate(truncate), busy ? Status.LEASE_HELD : Status.OK, "truncate");
    if (!busy && length < file.length) {
      file.extents = kept;
      long inlineLength = length - (file.length - file.inline.size());
      file.inline = file.inline.substring(0, (int) Math.max(0, inlineLength));
      file.length = length;
      file.sealed = sealed;
    }
  }

  /** Joins to a file that is being written what else there is in its directory. */
  private void concat() {
    if (writers.isEmpty()) {
      return;
    }
    Writer writer = writers.get(random.nextInt(writers.size()));
    ReferenceModel.Node file = writer.file;
    String path = model.pathOf(file);
    if (path == null || !holds(writer)) {
      return;
    }
    String directory = path.substring(0, path.lastIndexOf('/') + 1);
    List<ReferenceModel.Node> sources = new ArrayList<>();
    Concat.Builder concat = Concat.newBuilder().setTarget(path).setCommit(commit(writer, false));
    boolean quiet = concat.getCommit().getAllWritesCompleted();
    for (String name : NAMES) {
      ReferenceModel.Node source = model.get(directory + name);
      boolean fits =
          source != null
              && source != file
              && source.writer == 0
              && source.length > 0
              && source.inline.isEmpty()
              && file.inline.isEmpty();
      if (fits) {
        FileInfo seen = writer.client.info(directory + name);
        concat.addSources(
            ConcatSource.newBuilder()
                .setName(name)
                .setFileId(seen.getId())
                .setVersion(seen.getVersion()));
        sources.add(source);
      }
    }
    Reply reply = writer.client.call(Request.newBuilder().setConcat(concat));
    expect(reply, sources.isEmpty() ? Status.INVALID_ARGUMENT : Status.OK, "concat " + path);
    if (!sources.isEmpty()) {
      assertThat(reply.getConcatenated()).isEqualTo(sources.size());
      if (!quiet) {
        file.seal();
      }
      sources.forEach(source -> model.join(file, source));
      concat.getSourcesList().forEach(source -> model.delete(directory + source.getName(), false));
    }
  }

  // ---- the rest ---------------------------------------------------------------------------------

  private void housekeeping() {
    if (random.nextBoolean()) {
      server.freeAll();
    } else {
      sendAgain();
    }
  }

  /** I21: the same call once more gives the same reply, unless the client acknowledged it. */
  private void sendAgain() {
    int chosen = Math.max(0, server.log.size() - 1 - random.nextInt(6));
    LogEntry entry = server.log.get(chosen);
    if (entry.getSequence() == 0) {
      return;
    }
    // The reply of the last part, of a call that was logged in parts.
    Reply before = server.replies.get(chosen);
    for (int i = chosen; i < server.log.size(); i++) {
      LogEntry later = server.log.get(i);
      if (later.getClientId() == entry.getClientId()
          && later.getSequence() == entry.getSequence()) {
        before = server.replies.get(i);
      }
    }
    boolean alive = clients.stream().anyMatch(client -> client.id == entry.getClientId());
    Reply again = server.apply(entry.toBuilder());
    if (alive && again.getStatus() != Status.MALFORMED) {
      assertThat(withoutData(again)).isEqualTo(withoutData(before));
    } else {
      assertThat(again.getStatus()).isIn(Status.MALFORMED, Status.SESSION_EXPIRED);
    }
  }

  /** The data of a small file comes with a repeated reply as it is by then. */
  private static Reply withoutData(Reply reply) {
    Reply.Builder without = reply.toBuilder();
    if (reply.hasOpenedFile()) {
      without.getOpenedFileBuilder().clearInlineData();
    }
    return without.build();
  }

  private void rare(Harness.Client client) {
    if (random.nextInt(4) > 0) {
      String path = path();
      expect(client.recoverLease(path), model.recoverLease(path), "recover " + path);
      return;
    }
    if (random.nextBoolean()) {
      server.expireLeases(client.id);
    } else {
      server.expireSession(client.id);
      clients.set(clients.indexOf(client), server.superuser());
    }
    model.expire(client.id);
  }

  /** Fails unless every path has what the reference has. */
  void compare() {
    compare("", model.root);
  }

  private void compare(String path, ReferenceModel.Node node) {
    Harness.Client client = clients.get(0);
    String shown = path.isEmpty() ? "/" : path;
    FileInfo info = client.info(shown);
    assertThat(info.getType()).isEqualTo(node.directory ? FileType.DIRECTORY : FileType.FILE);
    if (node.directory) {
      assertThat(client.names(shown)).containsExactlyElementsOf(node.children.keySet());
      node.children.forEach((name, child) -> compare(path + "/" + name, child));
    } else {
      assertThat(info.getLength()).as(shown).isEqualTo(node.length);
      assertThat(info.getUnderConstruction()).as(shown).isEqualTo(node.writer != 0);
      ExtentMap map = client.extents(GetExtents.newBuilder().setPath(shown)).getExtentMap();
      assertThat(map.getExtentsList()).as(shown).isEqualTo(node.extents);
      assertThat(map.getInlineData()).as(shown).isEqualTo(node.inline);
    }
  }

  /** The extent as it was committed. */
  private static Extent ungranted(Extent extent) {
    return extent.toBuilder().clearGrant().build();
  }
}
