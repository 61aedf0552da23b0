package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Delete;
import io.takofs.proto.DeleteFiles;
import io.takofs.proto.DeleteResults;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;

/**
 * Removing many directory entries, each as {@link DeleteOperation} does without asking for what is
 * below. Each is a transaction of its own, so that it sees what those before it left.
 */
final class DeleteFilesOperation {
  private DeleteFilesOperation() {}

  static Reply apply(Context context, DeleteFiles request) throws TakoException {
    // So few that the entry changes no more keys than the store has pages kept back for.
    if (request.getNamesCount() > Layout.RPC_DELETES_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%d files are to be deleted with one call; %d is the most"
              .formatted(request.getNamesCount(), Layout.RPC_DELETES_MAX));
    }
    DeleteResults.Builder results = DeleteResults.newBuilder();
    for (int i = 0; i < request.getNamesCount(); i++) {
      Status status = delete(context, path(request.getBase(), request.getNames(i)));
      if (status != Status.OK) {
        results.addFailed(i).addReasons(status);
      }
    }
    return Reply.newBuilder().setDeleteResults(results).build();
  }

  private static String path(String base, String name) {
    if (name.isEmpty()) {
      return base;
    }
    return base.equals("/") ? base + name : base + "/" + name;
  }

  private static Status delete(Context whole, String path) {
    Context context = Context.of(whole.state(), whole.index(), whole.entry());
    try {
      DeleteOperation.apply(context, Delete.newBuilder().setPath(path).build());
      context.tx().commit(0);
      return Status.OK;
    } catch (TakoException e) {
      context.tx().abort();
      boolean gone = e.status() == Status.NOT_FOUND || e.status() == Status.NOT_A_DIRECTORY;
      return gone ? Status.OK : e.status();
    }
  }
}
