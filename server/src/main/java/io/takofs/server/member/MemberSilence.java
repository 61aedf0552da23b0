package io.takofs.server.member;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * For how long a leader has not reached members and learners, and which learners had their time in
 * vain.
 *
 * <p>Thread rule: one thread.
 */
final class MemberSilence {
  private static final int DOUBLINGS_MAX = 6; // an hour, of a minute

  private final long learnsWithinNs;
  private final Map<Integer, Long> silentSinceNs = new HashMap<>();
  private final Map<Integer, Integer> failures = new HashMap<>(); // of learners
  private final List<Integer> failed = new ArrayList<>(); // the one that failed last at the end
  private long lookedNs;

  /**
   * Nobody is silent yet.
   *
   * @param learnsWithinNs until a learner that is not reached has failed for the first time
   */
  MemberSilence(long learnsWithinNs) {
    this.learnsWithinNs = learnsWithinNs;
  }

  /** Another leader begins anew. */
  void forget() {
    silentSinceNs.clear();
    failures.clear();
    failed.clear();
  }

  /** Looks who gets the log; to be called often. */
  void look(
      Collection<Integer> members, Set<Integer> learners, IntPredicate isReached, long nowNs) {
    lookedNs = nowNs;
    Set<Integer> written = new TreeSet<>(members);
    written.addAll(learners);
    silentSinceNs.keySet().retainAll(written);
    for (int each : written) {
      if (isReached.test(each)) {
        silentSinceNs.remove(each);
      } else {
        silentSinceNs.putIfAbsent(each, nowNs);
      }
    }
    for (int each : learners) {
      if (silentNs(each) >= timeOf(each)) {
        silentSinceNs.remove(each);
        failures.merge(each, 1, Integer::sum);
        failed.remove((Integer) each);
        failed.add(each);
      }
    }
  }

  /**
   * The time of a learner doubles whenever it has failed: what it does in it, above all to take a
   * checkpoint over, may need more, and is done in vain when another one learns instead.
   */
  private long timeOf(int learner) {
    return learnsWithinNs << Math.min(failures.getOrDefault(learner, 0), DOUBLINGS_MAX);
  }

  /** Time for which a member was silent at the last look. */
  long silentNs(int server) {
    Long sinceNs = silentSinceNs.get(server);
    return sinceNs == null ? 0 : lookedNs - sinceNs;
  }

  /** Grows with each learner that failed: a server's own when it did so last; 0 for never. */
  int lastFailure(int server) {
    return failed.indexOf(server) + 1;
  }
}
