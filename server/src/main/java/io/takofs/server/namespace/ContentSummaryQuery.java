package io.takofs.server.namespace;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.ContentSummary;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.Reply;
import java.util.ArrayDeque;
import java.util.Deque;

/** Counts a whole tree; its cost is that of visiting it. */
final class ContentSummaryQuery {
  /** A directory still to be visited, with its path for the message. */
  private record Pending(Inode inode, String path) {}

  private final State state;
  private final Caller caller;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private long length;
  private long space;
  private long files;
  private long directories;

  private ContentSummaryQuery(State state, Caller caller) {
    this.state = state;
    this.caller = caller;
  }

  static Reply apply(State state, Caller caller, GetContentSummary request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    ContentSummaryQuery query = new ContentSummaryQuery(state, caller);
    query.add(state.tree.lookup(path, caller).inode(), path.toString());
    query.visitAll();
    return Reply.newBuilder()
        .setContentSummary(
            ContentSummary.newBuilder()
                .setLength(query.length)
                .setFileCount(query.files)
                .setDirectoryCount(query.directories)
                .setSpaceConsumed(query.space))
        .build();
  }

  private void visitAll() throws TakoException {
    while (!pending.isEmpty()) {
      Pending next = pending.pop();
      Permissions.require(caller, next.inode, Permissions.READ | Permissions.EXECUTE, next.path);
      String prefix = next.path.equals("/") ? "/" : next.path + "/";
      state.tree.scan(
          next.inode.id,
          new byte[0],
          entry -> {
            add(entry.inode(), prefix + new String(entry.name(), UTF_8));
            return true;
          });
    }
  }

  private void add(Inode inode, String path) {
    if (inode.directory) {
      directories++;
      pending.push(new Pending(inode, path));
    } else {
      files++;
      length += inode.length;
      space += inode.length * inode.replication;
    }
  }
}
