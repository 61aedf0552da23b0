package io.takofs.history;

import io.takofs.history.CallResult.Outcome;
import io.takofs.history.NamespaceState.ModelFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Histories of processes that use a namespace at once, each operation at one point of its time, and
 * the same with a result that is another one.
 *
 * <p>Thread rule: one thread.
 */
final class RandomHistory {
  private static final int PROCESSES = 3;
  private static final List<String> PATHS = List.of("/a", "/b");

  private final Random random;
  private final List<HistoryOperation> history = new ArrayList<>();
  private final List<NamespaceCall> created = new ArrayList<>();
  private final HistoryOperation[] running = new HistoryOperation[PROCESSES];
  private final CallResult[] results = new CallResult[PROCESSES];
  private NamespaceState state = NamespaceState.EMPTY;
  private long now;

  private RandomHistory(long seed) {
    this.random = new Random(seed);
  }

  /** A history that is linearizable, of {@code count} operations. */
  static List<HistoryOperation> linearizable(long seed, int count) {
    RandomHistory history = new RandomHistory(seed);
    while (history.history.size() < count) {
      history.step();
    }
    return List.copyOf(history.history);
  }

  /** One operation ends otherwise than it did; that may be wrong, or not. */
  static List<HistoryOperation> changed(List<HistoryOperation> history, long seed) {
    Random random = new Random(seed);
    List<HistoryOperation> changed = new ArrayList<>(history);
    int index = random.nextInt(history.size());
    HistoryOperation operation = history.get(index);
    List<Outcome> outcomes = List.copyOf(Outcome.of(operation.call().action()));
    CallResult result =
        new CallResult(
            outcomes.get(random.nextInt(outcomes.size())),
            random.nextInt(history.size()),
            0,
            random.nextBoolean());
    long end = operation.isEnded() ? operation.endNs() : operation.beginNs() + 1;
    changed.set(index, operation.ended(end, result));
    return changed;
  }

  /** Writes a history as clients would have recorded it, but for its times. */
  static void write(List<HistoryOperation> history, Path file) throws IOException {
    long[] numbers = new long[history.size()];
    try (HistoryRecorder recorder = new HistoryRecorder(file)) {
      long last = history.stream().mapToLong(HistoryOperation::beginNs).max().orElse(0);
      for (HistoryOperation each : history) {
        last = Math.max(last, each.isEnded() ? each.endNs() : 0);
      }
      for (long time = 0; time <= last; time++) { // of one time, beginnings are first
        for (int i = 0; i < numbers.length; i++) {
          if (history.get(i).beginNs() == time) {
            numbers[i] = recorder.begin(history.get(i).process(), history.get(i).call());
          }
        }
        for (int i = 0; i < numbers.length; i++) {
          if (history.get(i).isEnded() && history.get(i).endNs() == time) {
            recorder.end(numbers[i], history.get(i).result());
          }
        }
      }
    }
  }

  /** A process begins, does what it has begun, or ends; sometimes it is never heard of again. */
  private void step() {
    now++;
    int process = random.nextInt(PROCESSES);
    if (running[process] == null) {
      running[process] = HistoryOperation.begun(history.size() + 1L, process, now, call());
      history.add(running[process]);
    } else if (results[process] == null) {
      results[process] = happen(running[process].call());
    } else {
      boolean isKnown = results[process].outcome() != Outcome.UNKNOWN;
      if (isKnown && random.nextInt(8) > 0) {
        int index = (int) running[process].number() - 1;
        history.set(index, running[process].ended(now, results[process]));
      }
      running[process] = null;
      results[process] = null;
    }
  }

  private NamespaceCall call() {
    String path = PATHS.get(random.nextInt(PATHS.size()));
    return switch (random.nextInt(7)) {
      case 0, 1 -> {
        long content = created.size() + 1L;
        created.add(NamespaceCall.create(path, random.nextBoolean(), content, 10 + content));
        yield created.get(created.size() - 1);
      }
      case 2 ->
          created.isEmpty()
              ? NamespaceCall.stat(path)
              : write(created.get(random.nextInt(created.size())));
      case 3 -> NamespaceCall.delete(path);
      case 4 -> NamespaceCall.rename(path, path.equals("/a") ? "/b" : "/a", random.nextBoolean());
      case 5 -> NamespaceCall.stat(path);
      default -> NamespaceCall.read(path);
    };
  }

  private static NamespaceCall write(NamespaceCall create) {
    return NamespaceCall.write(create.path(), create.content(), create.length());
  }

  private CallResult happen(NamespaceCall call) {
    for (Outcome outcome : Outcome.of(call.action())) {
      CallResult result = outcome == Outcome.OK ? done(call) : CallResult.of(outcome);
      if (state.after(call, result).isPresent()) {
        state = state.after(call, result).get();
        return result;
      }
    }
    return CallResult.UNKNOWN; // a second write of the same file, which no client makes
  }

  private CallResult done(NamespaceCall call) {
    ModelFile found = state.find(call.path());
    boolean written = found != null && found.written();
    return switch (call.action()) {
      case READ -> CallResult.content(written ? found.content() : 0);
      case STAT -> CallResult.status(written ? found.length() : 0, !written);
      default -> CallResult.DONE;
    };
  }
}
