package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.rpc.LeaderWait;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Whom to ask for the session: the servers that may lead, and what each of them said last. Those
 * are the members of the group in the newest map that is known, and after them the servers that
 * were configured.
 *
 * <p>Thread rule: any thread.
 */
final class LeaderSearch {
  /** For the first attempt at each server while there are others; each round has twice as much. */
  private static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);

  /** A server that is well answers in this time, although it waits for a leader. */
  static final long LEAST_NS = LeaderWait.NS + TimeUnit.MILLISECONDS.toNanos(200);

  /** Rounds after which an attempt gets no more time. */
  private static final int ROUNDS_MAX = 10;

  private final Connector connector;
  private final Clock clock;
  private final Map<String, Answer> answers = new LinkedHashMap<>();
  private volatile ClusterMap map = ClusterMap.getDefaultInstance(); // changed under the lock
  private final Set<String> failed = new HashSet<>(); // servers, since one gave the session
  private int attempts;

  /** The words of a server, and their time. */
  private record Answer(String text, long atNs) {}

  LeaderSearch(Connector connector, Clock clock) {
    this.connector = connector;
    this.clock = clock;
  }

  /** A server shows {@code shown}; an older map than the known one says nothing. */
  synchronized void learn(ClusterMap shown) {
    if (shown.getEpoch() >= map.getEpoch() && shown.getServersCount() > 0) {
      map = shown;
    }
  }

  /** The known map; its epoch is 0 when there is none. */
  ClusterMap map() {
    return map;
  }

  /** {@code host:port} of {@code server}; empty when the known map does not have it. */
  synchronized String address(int server) {
    ServerEntry entry = ClusterView.find(map, server);
    return entry == null ? "" : ClusterView.address(entry);
  }

  /** The server at {@code address}; 0 when the known map does not have it. */
  synchronized int id(String address) {
    return map.getServersList().stream()
        .filter(entry -> ClusterView.address(entry).equals(address))
        .mapToInt(ServerEntry::getId)
        .findFirst()
        .orElse(0);
  }

  /** The servers that may lead, {@code host:port} each; at least one. */
  synchronized List<String> candidates() {
    Set<String> found = new LinkedHashSet<>();
    // A server alone may be reached by another address than it knows of.
    int groups = map.getServersCount() > 1 ? 1 : 0;
    for (GroupEntry group : map.getGroupsList().stream().limit(groups).toList()) {
      group.getMembersList().stream().sorted().map(this::address).forEach(found::add);
    }
    found.remove("");
    found.addAll(connector.servers());
    return new ArrayList<>(found);
  }

  /** Whether the group has several members, so that another one may come to lead. */
  synchronized boolean hasSeveralMembers() {
    return map.getGroupsCount() > 0 && map.getGroups(0).getMembersCount() > 1;
  }

  /** Whether there is another server to ask than {@code server}. */
  synchronized boolean hasOthers(String server) {
    return candidates().stream().anyMatch(each -> !each.equals(server));
  }

  /**
   * The time of an attempt, nanoseconds: short at first while there are other servers, so that one
   * that is silent does not cost the time of all.
   *
   * @param wholeNs of an attempt at the only server
   * @param leftNs until nobody waits for the session any more
   */
  synchronized long share(long wholeNs, long leftNs) {
    int servers = candidates().size();
    if (servers == 1) {
      return wholeNs;
    }
    int round = Math.min(attempts++ / servers, ROUNDS_MAX);
    // In the first round all are asked, however little time each has.
    long leastNs = round == 0 ? 1 : Math.max(1, Math.min(LEAST_NS, leftNs));
    return Math.min(wholeNs, Math.min(FIRST_NS << round, Math.max(leastNs, leftNs / servers)));
  }

  /** {@code server} gave the session. */
  synchronized void found() {
    failed.clear();
    attempts = 0;
  }

  /** {@code server} did not answer, or could do nothing: another one is next. */
  synchronized void failed(String server, String why) {
    said(server, why);
    failed.add(server);
    next();
  }

  /**
   * {@code server} does not lead: the one at {@code leader} is next, unless it has just failed.
   *
   * @param leader {@code host:port}; empty when {@code server} does not know
   */
  synchronized void follow(String server, String leader, String text) {
    said(server, text);
    if (leader.isEmpty() || leader.equals(server) || failed.contains(leader)) {
      next();
    } else {
      go(leader);
    }
  }

  private void said(String server, String text) {
    answers.remove(server); // those come last who spoke last
    answers.put(server, new Answer(text, clock.nanoTime()));
  }

  /**
   * One after the other, in the order of the members' numbers: that in which they stand for
   * election when a leader is gone, so that the one after it most likely is the next leader.
   */
  private void next() {
    List<String> servers = candidates();
    if (failed.containsAll(servers)) {
      failed.clear(); // whoever is named may be back
    }
    go(servers.get((servers.indexOf(connector.server()) + 1) % servers.size()));
  }

  private void go(String server) {
    if (!server.equals(connector.server())) {
      connector.redirect(server);
    }
  }

  /**
   * The answers of the servers since {@code sinceNs}, for the message of a failure that says what
   * one of them did; empty when no other spoke.
   *
   * @param told what the message says already
   */
  synchronized String others(long sinceNs, String told) {
    List<String> said = new ArrayList<>();
    answers.forEach(
        (server, answer) -> {
          if (answer.atNs - sinceNs >= 0 && !told.contains(answer.text)) {
            said.add(server + " said: " + answer.text);
          }
        });
    return said.isEmpty() ? "" : "; of the other servers " + String.join("; ", said);
  }
}
