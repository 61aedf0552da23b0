package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Delete;
import io.takofs.proto.DeleteFiles;
import io.takofs.proto.DeleteResults;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.CountInProgress;
import io.takofs.server.namespace.state.State;

/**
 * Removing many directory entries, each as {@link DeleteOperation} does without asking for what is
 * below. Each is a transaction of its own, so that it sees what those before it left, and records
 * with the same changes how far the call has come: whatever ends it between two of them, the call
 * goes on after the last one when it is made again.
 *
 * <p>A call's names are logged in parts, because one entry changes a bounded number of records.
 */
public final class DeleteFilesOperation {
  /** So few that an entry changes no more keys than the store has pages kept back for. */
  private static final int NAMES_PER_ENTRY = 16;

  private final State state;
  private final long index;
  private final LogEntry entry;
  private final DeleteFiles part;
  private final DeleteResults.Builder results;
  private final int count;

  private DeleteFilesOperation(State state, long index, LogEntry entry, DeleteResults before) {
    this.state = state;
    this.index = index;
    this.entry = entry;
    this.part = entry.getRequest().getDeleteFiles();
    this.results = before.toBuilder();
    this.count = part.getBefore() + part.getNamesCount() + part.getBehind();
  }

  /** The next part of a call, as {@link StateMachine#next} says. */
  public static Request next(Request asked, Reply reply) throws TakoException {
    DeleteFiles call = asked.getDeleteFiles();
    int count = call.getNamesCount();
    if (count > Layout.RPC_DELETES_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%d files are to be deleted with one call; %d is the most"
              .formatted(count, Layout.RPC_DELETES_MAX));
    }
    int remaining = reply == null ? count : reply.getDeleteResults().getRemaining();
    if (remaining > count) {
      throw new TakoException(
          Status.MALFORMED,
          "a call that was to delete %d more files is repeated with %d"
              .formatted(remaining, count));
    }
    int from = count - remaining;
    int to = Math.min(count, from + NAMES_PER_ENTRY);
    DeleteFiles part =
        DeleteFiles.newBuilder()
            .setBase(call.getBase())
            .addAllNames(call.getNamesList().subList(from, to))
            .setBefore(from)
            .setBehind(count - to)
            .build();
    return asked.toBuilder().setDeleteFiles(part).build();
  }

  /**
   * Deletes what an entry names and was not tried before.
   *
   * @param recorded the reply to the parts before; null for none
   * @return that to all parts up to this one; NO_SPACE when what failed cannot be kept, which is
   *     tried again when the call is repeated
   */
  public static Reply apply(State state, long index, LogEntry entry, Reply recorded) {
    DeleteFilesOperation operation =
        new DeleteFilesOperation(
            state,
            index,
            entry,
            recorded == null ? DeleteResults.getDefaultInstance() : recorded.getDeleteResults());
    try {
      operation.check();
      return operation.run(recorded);
    } catch (CountInProgress e) {
      return Replies.failure(QuotaOperation.counting(e.quota()));
    } catch (TakoException e) {
      return Replies.failure(e);
    }
  }

  private void check() throws TakoException {
    if (part.getNamesCount() > NAMES_PER_ENTRY) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "a log entry deletes %d files; %d is the most"
              .formatted(part.getNamesCount(), NAMES_PER_ENTRY));
    }
  }

  private Reply run(Reply recorded) throws TakoException {
    int next = recorded == null ? 0 : count - results.getRemaining();
    if (next < part.getBefore()) {
      throw new TakoException(
          Status.MALFORMED,
          "files %d and on are to be deleted, and file %d is next"
              .formatted(part.getBefore(), next));
    }
    boolean kept = recorded != null;
    int first = next;
    for (; next < count - part.getBehind(); next++) {
      results.setRemaining(count - next - 1);
      Outcome outcome = delete(next, next > first);
      if (outcome == Outcome.PUT_OFF) {
        results.setRemaining(count - next); // for the next entry
        break;
      }
      kept = outcome == Outcome.DELETED;
    }
    if (!kept) {
      keep();
    }
    return reply();
  }

  /** The result for one name. */
  private enum Outcome {
    /** The result is recorded, too. */
    DELETED,
    FAILED,
    /** It would change too much with what the entry has changed before. */
    PUT_OFF
  }

  private Outcome delete(int number, boolean mayPutOff) {
    Context context = Context.of(state, index, entry);
    String path = path(part.getBase(), part.getNames(number - part.getBefore()));
    try {
      DeleteOperation.apply(context, Delete.newBuilder().setPath(path).build());
      state.results.record(context, reply());
      context.tx().commit(0);
      return Outcome.DELETED;
    } catch (CountInProgress e) {
      context.tx().abort();
      throw e; // the call is made again, and goes on here
    } catch (TakoException e) {
      context.tx().abort();
      if (mayPutOff && context.tx().isTooLarge()) {
        return Outcome.PUT_OFF;
      }
      if (e.status() != Status.NOT_FOUND && e.status() != Status.NOT_A_DIRECTORY) {
        results.addFailed(number).addReasons(e.status());
      }
      return Outcome.FAILED;
    }
  }

  private void keep() throws TakoException {
    Context context = Context.of(state, index, entry);
    try {
      state.results.record(context, reply());
      context.tx().commit(0);
    } catch (TakoException e) {
      context.tx().abort();
      throw e;
    }
  }

  private Reply reply() {
    return Reply.newBuilder().setDeleteResults(results).build();
  }

  private static String path(String base, String name) {
    if (name.isEmpty()) {
      return base;
    }
    return base.equals("/") ? base + name : base + "/" + name;
  }
}
