package io.takofs.server.log;

import io.takofs.proto.LogPosition;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * A round of questions to the members of a configuration. Answers to an earlier round do nothing.
 *
 * <p>Thread rule: the holder of the replica's monitor; answers take it.
 */
final class Ballot {
  private final LogReplica replica;
  private final LogPeers peers;
  private final Map<Integer, LogPosition> answers = new HashMap<>();
  private final Set<Integer> refusals = new HashSet<>();
  private final Set<Integer> ended = new HashSet<>(); // they have answered otherwise
  private final Set<Integer> busy = new HashSet<>(); // to be asked again
  private GroupConfig config;
  private long round;
  private boolean refused;
  private long repeatNs;

  /** Takes the answer of a member in the present round. */
  interface OnAnswer {
    void take(int server, Reply reply);
  }

  Ballot(LogReplica replica, LogPeers peers) {
    this.replica = replica;
    this.peers = peers;
  }

  /**
   * Begins a round.
   *
   * @param gone a member that will not answer; 0 for none
   */
  void open(GroupConfig members, int gone) {
    close();
    config = members;
    answers.clear();
    refusals.clear();
    ended.clear();
    refusals.add(gone);
    refused = false;
  }

  /** Ends the round. */
  void close() {
    round++;
    busy.clear();
  }

  /** Asks {@code servers}, but not this one. */
  void ask(Set<Integer> servers, IntFunction<Request> request, OnAnswer then) {
    long asked = round;
    for (int other : servers) {
      if (other != replica.server()) {
        peers.call(
            other,
            request.apply(other),
            reply -> {
              synchronized (replica) {
                if (round == asked) {
                  then.take(other, reply);
                }
              }
            });
      }
    }
  }

  void accept(int server, LogPosition position) {
    answers.put(server, position);
  }

  /** Those that accepted. */
  Map<Integer, LogPosition> answers() {
    return Collections.unmodifiableMap(answers);
  }

  /** Whether enough members have accepted. */
  boolean isWon() {
    return config.isQuorum(answers.keySet());
  }

  /** {@code server} will neither accept nor refuse in this round. */
  void end(int server) {
    ended.add(server);
  }

  /** Whether all have answered; one that is gone may come back. */
  boolean isComplete() {
    Set<Integer> awaited = new HashSet<>(config.asked());
    awaited.removeAll(answers.keySet());
    awaited.removeAll(ended);
    return awaited.isEmpty();
  }

  void refuse(int server) {
    refused = true;
    refusals.add(server);
    ended.add(server);
  }

  /** {@code server} cannot answer yet, and is to be asked again at {@code atNs}. */
  void repeat(int server, long atNs) {
    busy.add(server);
    repeatNs = atNs;
  }

  /** Whether somebody refused, and those that may still accept at once are too few. */
  boolean isLost() {
    Set<Integer> others = new HashSet<>(config.asked());
    others.removeAll(refusals);
    others.removeAll(busy);
    return refused && !config.isQuorum(others);
  }

  /** Nanoseconds until somebody is to be asked again; {@code most} when nobody is. */
  long pauseNs(long now, long most) {
    return busy.isEmpty() ? most : repeatNs - now;
  }

  /** Those that are to be asked again by now; once each time. */
  Set<Integer> takeBusy(long now) {
    if (busy.isEmpty() || now - repeatNs < 0) {
      return Set.of();
    }
    Set<Integer> again = new TreeSet<>(busy); // one order, for simulations
    busy.clear();
    return again;
  }
}
