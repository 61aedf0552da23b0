package io.takofs.history;

import io.takofs.history.CallResult.Outcome;
import io.takofs.history.HistorySearch.Verdict;
import io.takofs.history.NamespaceCall.Action;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Whether a history is linearizable: an order of its operations, each at one point between its
 * begin and its end, explains all results. At its beginning the namespace is empty.
 */
public final class HistoryCheck {
  /** Situations that are looked at in one part of a history; each takes a few hundred bytes. */
  private static final int SITUATIONS_MAX = 500_000;

  /** The same of each of the searches that make what is wrong smaller. */
  private static final int SMALLER_SITUATIONS_MAX = 5_000;

  /** Operations that a failure tells of at most. */
  private static final int LINES_MAX = 40;

  private HistoryCheck() {}

  /**
   * Fails unless {@code history} is linearizable: with the few operations that nothing explains, or
   * because the search took too long.
   */
  public static void check(List<HistoryOperation> history) {
    for (List<HistoryOperation> part : parts(history)) {
      switch (HistorySearch.run(part, SITUATIONS_MAX)) {
        case LINEARIZABLE -> {}
        case WRONG -> throw new AssertionError(report(explain(part), history));
        case UNDECIDED ->
            throw new AssertionError(
                "it is undecided after %d situations whether %d operations with %s are linearizable"
                    .formatted(SITUATIONS_MAX, part.size(), part.get(0).call().path()));
      }
    }
  }

  /** Whether {@code history} is linearizable; fails when the search took too long. */
  public static boolean isLinearizable(List<HistoryOperation> history) {
    boolean linearizable = true;
    for (List<HistoryOperation> part : parts(history)) {
      Verdict verdict = HistorySearch.run(part, SITUATIONS_MAX);
      if (verdict == Verdict.UNDECIDED) {
        throw new AssertionError(part.size() + " operations are too many");
      }
      linearizable &= verdict == Verdict.LINEARIZABLE;
    }
    return linearizable;
  }

  /**
   * Parts that no rename connects, begun or ended. A write belongs to the path that its file was
   * created at.
   */
  static Collection<List<HistoryOperation>> parts(List<HistoryOperation> history) {
    Map<String, String> above = new HashMap<>();
    for (HistoryOperation operation : history) {
      if (operation.call().action() == Action.RENAME) {
        String root = root(above, operation.call().path());
        String other = root(above, operation.call().target());
        if (!root.equals(other)) {
          above.put(root, other);
        }
      }
    }
    return history.stream()
        .collect(
            Collectors.groupingBy(
                operation -> root(above, operation.call().path()),
                LinkedHashMap::new,
                Collectors.toList()))
        .values();
  }

  private static String root(Map<String, String> above, String path) {
    String root = path;
    while (above.containsKey(root)) {
      root = above.get(root);
    }
    return root;
  }

  /**
   * Few operations of a part that no order explains, so that no order explains these: of the
   * shortest history that is wrong, those that the contradiction needs. An operation is not needed
   * when there is no order even if it may happen at any time after its begin, or never. Where the
   * contents of these come from is told, too.
   */
  static List<HistoryOperation> explain(List<HistoryOperation> part) {
    List<HistoryOperation> known = shortest(part);
    List<HistoryOperation> freed = new ArrayList<>(known);
    free(known, freed, operation -> !operation.isChange()); // first, for it makes searches short
    free(known, freed, HistoryOperation::isChange);
    Set<Long> contents = new HashSet<>();
    for (HistoryOperation operation : freed) {
      if (operation.result().outcome() != Outcome.UNKNOWN) {
        contents.add(operation.call().content());
        contents.add(operation.result().content());
      }
    }
    List<HistoryOperation> few = new ArrayList<>();
    for (int i = 0; i < known.size(); i++) {
      NamespaceCall call = known.get(i).call();
      boolean isNeeded = freed.get(i).result().outcome() != Outcome.UNKNOWN;
      if (isNeeded || (call.hasContent() && contents.contains(call.content()))) {
        few.add(known.get(i));
      }
    }
    return few;
  }

  private static void free(
      List<HistoryOperation> known,
      List<HistoryOperation> freed,
      Predicate<HistoryOperation> which) {
    for (int i = 0; i < known.size(); i++) {
      if (which.test(known.get(i))) {
        freed.set(i, known.get(i).freed());
        if (!isWrong(freed)) {
          freed.set(i, known.get(i));
        }
      }
    }
  }

  private static boolean isWrong(List<HistoryOperation> part) {
    return HistorySearch.run(part, SMALLER_SITUATIONS_MAX) == Verdict.WRONG;
  }

  /** The part until the first end that contradicts it: a longer history is wrong as well. */
  private static List<HistoryOperation> shortest(List<HistoryOperation> part) {
    List<Long> ends =
        part.stream()
            .filter(HistoryOperation::isEnded)
            .map(HistoryOperation::endNs)
            .sorted()
            .toList();
    int right = -1; // until this end, the history is not known to be wrong
    int wrong = ends.size() - 1;
    while (wrong - right > 1) {
      int middle = (right + wrong) / 2;
      if (isWrong(until(part, ends.get(middle)))) {
        wrong = middle;
      } else {
        right = middle;
      }
    }
    return until(part, ends.get(wrong));
  }

  private static List<HistoryOperation> until(List<HistoryOperation> part, long atNs) {
    return part.stream()
        .filter(operation -> operation.beginNs() <= atNs)
        .map(operation -> operation.endNs() > atNs ? operation.freed() : operation)
        .toList();
  }

  private static String report(List<HistoryOperation> few, List<HistoryOperation> history) {
    long origin = history.get(0).beginNs();
    int left = Math.max(0, few.size() - LINES_MAX);
    return few.stream()
        .skip(left)
        .map(operation -> operation.describe(origin))
        .collect(
            Collectors.joining(
                "\n",
                "not linearizable: no order of these %d operations explains their results:\n"
                    .formatted(few.size()),
                ""));
  }
}
