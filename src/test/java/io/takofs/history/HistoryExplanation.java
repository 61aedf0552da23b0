package io.takofs.history;

import io.takofs.history.CallResult.Outcome;
import io.takofs.history.HistorySearch.Verdict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What is wrong with a history: it led to one of some states, and from none of these does any order
 * explain what came then.
 *
 * @param states that there may be before the operations
 * @param afterNs when there was one of these
 * @param operations few that no order explains
 */
record HistoryExplanation(
    Set<NamespaceState> states, long afterNs, List<HistoryOperation> operations) {

  /** Situations that one of the many searches looks at. */
  private static final int SITUATIONS_MAX = 5_000;

  /** Situations of the one search for what there may be at a time. */
  private static final int LATE_SITUATIONS_MAX = 100_000;

  /** States that an explanation may begin with. */
  private static final int STATES_MAX = 4;

  /** Operations that are told of at most. */
  private static final int LINES_MAX = 40;

  /** From the beginning on, before which there was nothing. */
  private static final long BEGINNING = Long.MIN_VALUE;

  /**
   * Looks for a small one, of a part that is wrong. First for the shortest history that is. Then
   * for the last time before its last operation when none was under way; what there could be then
   * says all of what was before. Then each operation is left out that the contradiction does not
   * need: not even if it may happen at any time after its begin, or never, is there an order. Where
   * the contents of the others come from is told, too.
   */
  static HistoryExplanation of(List<HistoryOperation> part) {
    HistoryExplanation whole =
        new HistoryExplanation(Set.of(NamespaceState.EMPTY), BEGINNING, part);
    return whole.shortened().begunLate().withWhatIsNeeded();
  }

  private boolean isWrong(List<HistoryOperation> some) {
    return HistorySearch.run(states, some, SITUATIONS_MAX) == Verdict.WRONG;
  }

  /** Ends with the first end that contradicts the rest: a longer history is wrong as well. */
  private HistoryExplanation shortened() {
    List<Long> ends =
        operations.stream()
            .filter(HistoryOperation::isEnded)
            .map(HistoryOperation::endNs)
            .sorted()
            .toList();
    int right = -1; // until this end, the history is not known to be wrong
    int wrong = ends.size() - 1;
    while (wrong - right > 1) {
      int middle = (right + wrong) / 2;
      if (isWrong(until(ends.get(middle)))) {
        wrong = middle;
      } else {
        right = middle;
      }
    }
    return new HistoryExplanation(states, afterNs, until(ends.get(wrong)));
  }

  /** What was known at some time. */
  private List<HistoryOperation> until(long atNs) {
    return operations.stream()
        .filter(operation -> operation.beginNs() <= atNs)
        .map(operation -> operation.endNs() > atNs ? operation.freed() : operation)
        .toList();
  }

  /** Begins when nothing was under way, as late as may be. */
  private HistoryExplanation begunLate() {
    List<HistoryOperation> ended = operations.stream().filter(HistoryOperation::isEnded).toList();
    long lastEnd = ended.stream().mapToLong(HistoryOperation::endNs).max().orElseThrow();
    long lastBegin =
        ended.stream()
            .filter(operation -> operation.endNs() == lastEnd)
            .mapToLong(HistoryOperation::beginNs)
            .min()
            .orElseThrow();
    long at =
        ended.stream()
            .mapToLong(HistoryOperation::endNs)
            .filter(end -> end < lastBegin)
            .filter(end -> ended.stream().noneMatch(o -> o.beginNs() <= end && o.endNs() > end))
            .max()
            .orElse(BEGINNING);
    Set<NamespaceState> then = HistorySearch.statesAfter(until(at), LATE_SITUATIONS_MAX);
    HistoryExplanation late =
        new HistoryExplanation(
            then,
            at,
            operations.stream()
                .filter(operation -> operation.beginNs() > at || !operation.isEnded())
                .toList());
    boolean isFew = !then.isEmpty() && then.size() <= STATES_MAX;
    return isFew && late.isWrong(late.operations) ? late : this;
  }

  private HistoryExplanation withWhatIsNeeded() {
    List<HistoryOperation> freed = new ArrayList<>(operations);
    free(freed, operation -> !operation.isChange()); // first, for it makes searches short
    free(freed, HistoryOperation::isChange);
    Set<Long> contents = new HashSet<>();
    for (HistoryOperation operation : freed) {
      if (operation.result().outcome() != Outcome.UNKNOWN) {
        contents.add(operation.call().content());
        contents.add(operation.result().content());
      }
    }
    List<HistoryOperation> needed = new ArrayList<>();
    for (int i = 0; i < freed.size(); i++) {
      NamespaceCall call = operations.get(i).call();
      if (freed.get(i).result().outcome() != Outcome.UNKNOWN
          || (call.hasContent() && contents.contains(call.content()))) {
        needed.add(operations.get(i));
      }
    }
    return new HistoryExplanation(states, afterNs, needed);
  }

  private void free(List<HistoryOperation> freed, Predicate<HistoryOperation> which) {
    for (int i = 0; i < freed.size(); i++) {
      HistoryOperation operation = freed.get(i);
      if (which.test(operation)) {
        freed.set(i, operation.freed());
        if (!isWrong(freed)) {
          freed.set(i, operation);
        }
      }
    }
  }

  /** Sentences for people, times in ms since {@code originNs}. */
  String report(long originNs) {
    String begin =
        afterNs == BEGINNING
            ? ""
            : "%.3f ms after its begin there is %s, and\n"
                .formatted(
                    (afterNs - originNs) / 1e6,
                    states.stream().map(Objects::toString).collect(Collectors.joining(" or ")));
    return operations.stream()
        .skip(Math.max(0, operations.size() - LINES_MAX))
        .map(operation -> operation.describe(originNs))
        .collect(
            Collectors.joining(
                "\n",
                "not linearizable: %sno order of these %d operations explains their results:\n"
                    .formatted(begin, operations.size()),
                ""));
  }
}
