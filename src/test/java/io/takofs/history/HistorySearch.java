package io.takofs.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The search for an order of operations, each at one point between its begin and its end, that
 * explains all results: depth first, and from no situation twice (Wing and Gong's algorithm, with
 * Lowe's memory). Operations of unknown outcome are in that order or not; two that touch at one
 * point of time are concurrent.
 *
 * <p>Thread rule: one thread.
 */
final class HistorySearch {
  /** What a search ends with. */
  enum Verdict {
    LINEARIZABLE,
    WRONG,
    /** More situations than allowed were looked at. */
    UNDECIDED
  }

  private final List<HistoryOperation> ended;
  private final List<HistoryOperation> unknown;
  private final int situationsMax;
  private final Set<Situation> seen = new HashSet<>();
  private final Deque<Situation> open = new ArrayDeque<>();

  /**
   * What has happened, and what there is now.
   *
   * @param happened by index: those that ended first, then those of unknown outcome
   */
  private record Situation(BitSet happened, NamespaceState state) {
    Situation after(int index, NamespaceState next) {
      BitSet more = (BitSet) happened.clone();
      more.set(index);
      return new Situation(more, next);
    }
  }

  private HistorySearch(List<HistoryOperation> part, int situationsMax) {
    this.situationsMax = situationsMax;
    this.ended =
        part.stream()
            .filter(HistoryOperation::isEnded)
            .sorted(Comparator.comparingLong(HistoryOperation::beginNs))
            .toList();
    this.unknown =
        part.stream()
            .filter(operation -> !operation.isEnded() && !operation.call().isQuery())
            .toList();
  }

  /** Searches from any of some states on, in at most {@code situationsMax} situations. */
  static Verdict run(Set<NamespaceState> first, List<HistoryOperation> part, int situationsMax) {
    return new HistorySearch(part, situationsMax).run(first);
  }

  /**
   * All states that there may be after a part that begins with an empty namespace; empty when there
   * are more situations than allowed.
   */
  static Set<NamespaceState> statesAfter(List<HistoryOperation> part, int situationsMax) {
    HistorySearch search = new HistorySearch(part, situationsMax);
    Set<NamespaceState> states = new LinkedHashSet<>();
    search.visit(new Situation(new BitSet(), NamespaceState.EMPTY));
    while (!search.open.isEmpty()) {
      Situation situation = search.open.pop();
      if (search.seen.size() > situationsMax) {
        return Set.of();
      }
      if (search.isOver(situation)) {
        states.add(situation.state());
      }
      search.goOn(situation); // what is unknown may still happen
    }
    return states;
  }

  private boolean isOver(Situation situation) {
    return situation.happened().nextClearBit(0) >= ended.size();
  }

  private Verdict run(Set<NamespaceState> first) {
    first.forEach(state -> visit(new Situation(new BitSet(), state)));
    while (!open.isEmpty()) {
      Situation situation = open.pop();
      if (isOver(situation)) {
        return Verdict.LINEARIZABLE;
      }
      if (seen.size() > situationsMax) {
        return Verdict.UNDECIDED;
      }
      goOn(situation);
    }
    return Verdict.WRONG;
  }

  private void visit(Situation situation) {
    if (seen.add(situation)) {
      open.push(situation);
    }
  }

  /** What was visited last is looked at first: the operation that has to end first. */
  private void goOn(Situation situation) {
    long firstEnd = Long.MAX_VALUE;
    List<Integer> next = new ArrayList<>();
    BitSet happened = situation.happened();
    for (int i = happened.nextClearBit(0); i < ended.size(); i = happened.nextClearBit(i + 1)) {
      if (ended.get(i).beginNs() > firstEnd) {
        break; // as all after it
      }
      firstEnd = Math.min(firstEnd, ended.get(i).endNs());
      next.add(i);
    }
    for (int i = 0; i < unknown.size(); i++) {
      int index = ended.size() + i;
      if (unknown.get(i).beginNs() <= firstEnd && !happened.get(index)) {
        tryUnknown(situation, index, unknown.get(i));
      }
    }
    next.sort(Comparator.comparingLong((Integer i) -> ended.get(i).endNs()).reversed());
    for (int i : next) {
      HistoryOperation operation = ended.get(i);
      if (operation.beginNs() <= firstEnd) {
        situation
            .state()
            .after(operation.call(), operation.result())
            .ifPresent(state -> visit(situation.after(i, state)));
      }
    }
  }

  /** One that would be refused now may as well never happen. */
  private void tryUnknown(Situation situation, int index, HistoryOperation operation) {
    Optional<NamespaceState> state = situation.state().after(operation.call(), operation.result());
    state.ifPresent(next -> visit(situation.after(index, next)));
  }
}
