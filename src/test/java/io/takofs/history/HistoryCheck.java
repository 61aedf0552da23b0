package io.takofs.history;

import io.takofs.history.HistorySearch.Verdict;
import io.takofs.history.NamespaceCall.Action;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whether a history is linearizable: an order of its operations, each at one point between its
 * begin and its end, explains all results. At its beginning the namespace is empty.
 */
public final class HistoryCheck {
  /** Situations that are looked at in one part of a history; each takes a few hundred bytes. */
  private static final int SITUATIONS_MAX = 500_000;

  private static final Set<NamespaceState> EMPTY = Set.of(NamespaceState.EMPTY);

  private HistoryCheck() {}

  /**
   * Fails unless {@code history} is linearizable: with the few operations that nothing explains, or
   * because the search took too long.
   */
  public static void check(List<HistoryOperation> history) {
    for (List<HistoryOperation> part : parts(history)) {
      switch (HistorySearch.run(EMPTY, part, SITUATIONS_MAX)) {
        case LINEARIZABLE -> {}
        case WRONG ->
            throw new AssertionError(HistoryExplanation.of(part).report(history.get(0).beginNs()));
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
      Verdict verdict = HistorySearch.run(EMPTY, part, SITUATIONS_MAX);
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
}
