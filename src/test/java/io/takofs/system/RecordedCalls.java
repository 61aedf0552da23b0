package io.takofs.system;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.history.CallResult;
import io.takofs.history.CallResult.Outcome;
import io.takofs.history.HistoryRecorder;
import io.takofs.history.NamespaceCall;
import io.takofs.history.NamespaceCall.Action;
import io.takofs.proto.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * Calls of one client, each recorded before it is made and once its result is known.
 *
 * <p>A call whose outcome nobody knows may happen while later ones are made, so what comes after it
 * is recorded as another process.
 *
 * <p>Thread rule: one thread.
 */
final class RecordedCalls {
  /** Processes of different clients are different modulo this. */
  private static final int PROCESSES = 100;

  /** After these the caller cannot know what was done. */
  private static final Set<Status> UNKNOWN =
      EnumSet.of(
          Status.DEADLINE_EXCEEDED,
          Status.DISCONNECTED,
          Status.SESSION_EXPIRED,
          Status.UNAVAILABLE,
          Status.NOT_LEADER, // of the last server that was asked in its time
          Status.BUSY);

  private final TakoClient client;
  private final HistoryRecorder recorder;
  private final Duration patience;
  private int process;

  /**
   * @param patience no call may fail earlier because a server does not answer or is not the right
   *     one
   */
  RecordedCalls(TakoClient client, HistoryRecorder recorder, int process, Duration patience) {
    this.client = client;
    this.recorder = recorder;
    this.process = process;
    this.patience = patience;
  }

  /** What is asked of the client; returns what it answered. */
  @FunctionalInterface
  private interface Asked {
    CallResult run() throws IOException;
  }

  /**
   * Creates a file and writes all of it, which are two calls.
   *
   * @param between runs when it is open and empty
   */
  void create(String path, boolean overwrite, long content, int length, Runnable between)
      throws IOException {
    CreateOptions options = CreateOptions.DEFAULT.withOverwrite(overwrite);
    TakoOutputStream[] opened = new TakoOutputStream[1];
    run(
        NamespaceCall.create(path, overwrite, content, length),
        () -> {
          opened[0] = client.create(path, options);
          return CallResult.DONE;
        });
    if (opened[0] == null) {
      return;
    }
    between.run();
    run(
        NamespaceCall.write(path, content, length),
        () -> {
          try (TakoOutputStream out = opened[0]) {
            out.write(RecordedContent.of(content, length));
          }
          return CallResult.DONE;
        });
  }

  void read(String path) throws IOException {
    run(
        NamespaceCall.read(path),
        () -> {
          try (TakoInputStream in = client.open(path)) {
            boolean wasWritten = in.length() > 0;
            CallResult read = readAll(path, in);
            return wasWritten || read.content() == 0 || isAt(path, in.fileId())
                ? read
                : CallResult.UNKNOWN;
          }
        });
  }

  /**
   * Whether a file is there. One that was empty when it was opened, and had bytes when it was read,
   * may have been renamed in between: then its bytes were never to be read at the path.
   */
  private boolean isAt(String path, long id) throws IOException {
    try {
      return client.getStatus(path).id() == id;
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  /** That a file which was found is not there any more does not say that nothing is at its path. */
  private static CallResult readAll(String path, TakoInputStream in) throws IOException {
    try {
      return CallResult.content(RecordedContent.in(path, in.readAllBytes()));
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND) {
        return CallResult.UNKNOWN;
      }
      throw e;
    }
  }

  void stat(String path) throws IOException {
    run(
        NamespaceCall.stat(path),
        () -> {
          PathStatus status = client.getStatus(path);
          return CallResult.status(status.length(), status.underConstruction());
        });
  }

  void delete(String path) throws IOException {
    run(
        NamespaceCall.delete(path),
        () -> {
          client.delete(path, false);
          return CallResult.DONE;
        });
  }

  void rename(String path, String target, boolean overwrite) throws IOException {
    run(
        NamespaceCall.rename(path, target, overwrite),
        () -> {
          client.rename(path, target, overwrite);
          return CallResult.DONE;
        });
  }

  private void run(NamespaceCall call, Asked asked) throws IOException {
    long operation = recorder.begin(process, call);
    CallResult result;
    String why = "what was read is gone, or elsewhere";
    long begin = System.nanoTime();
    try {
      result = asked.run();
    } catch (TakoException e) {
      result = CallResult.of(outcome(call, e));
      Duration taken = Duration.ofNanos(System.nanoTime() - begin);
      if (result.outcome() == Outcome.UNKNOWN && taken.compareTo(patience) < 0) {
        throw new AssertionError(call + " failed after " + taken + ", too early", e);
      }
      why = e.status().name();
    }
    if (result.outcome() == Outcome.UNKNOWN) {
      recorder.unknown(operation, why);
      process += PROCESSES;
    } else {
      recorder.end(operation, result);
    }
  }

  /** Fails for what no client should ever be told. */
  private static Outcome outcome(NamespaceCall call, TakoException failure) {
    Action action = call.action();
    Outcome outcome =
        switch (failure.status()) {
          case NOT_FOUND -> Outcome.ABSENT;
          case ALREADY_EXISTS -> Outcome.EXISTS;
          case LEASE_HELD -> Outcome.HELD;
          case LEASE_LOST -> Outcome.LOST;
          default -> Outcome.UNKNOWN;
        };
    if (outcome == Outcome.UNKNOWN
        ? !UNKNOWN.contains(failure.status())
        : !Outcome.of(action).contains(outcome)) {
      throw new AssertionError(call + " failed: " + failure.getMessage(), failure);
    }
    return outcome;
  }
}
