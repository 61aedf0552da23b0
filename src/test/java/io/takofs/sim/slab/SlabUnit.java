package io.takofs.sim.slab;

import io.takofs.proto.Replica;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** An extent of one unit, as its group knows it. */
final class SlabUnit {
  /** Pieces that are written and committed one after the other. */
  static final int CELLS = 4;

  static final int CELL_BYTES = 512;

  enum Use {
    FREE,
    GRANTED,
    COMMITTED,
    QUARANTINE
  }

  /** By cell, the number of the grant whose bytes are committed; 0 for none. */
  final long[] cells = new long[CELLS];

  Use use = Use.FREE;
  long grant;
  long client;

  /** Of the record: the number of the grant under which it was written first. */
  long generation;

  /** The grant has not ended. */
  boolean live;

  /** Nobody whose grant ended can still write. */
  boolean settled = true;

  /** Readers have to be asked for after the writer: its fence may be older than the deletion. */
  private boolean readersLast;

  /** One more whenever earlier answers about it mean nothing any more. */
  int round;

  /** Replicas that have answered that nobody writes there, nor reads if that matters. */
  final Set<Replica> fenced = new HashSet<>();

  /** Replicas that have been asked. */
  final Set<Replica> asked = new HashSet<>();

  int committed() {
    int count = 0;
    while (count < CELLS && cells[count] != 0) {
      count++;
    }
    return count;
  }

  boolean isAppendable() {
    return isAppendableUnfenced() && settled;
  }

  /** Whether there is room, though the last writer may still use it. */
  boolean isAppendableUnfenced() {
    return use == Use.COMMITTED && !live && committed() < CELLS;
  }

  /** Whether what {@code writer} stores may land. */
  boolean mayStore(long writer) {
    return !settled && writer == client;
  }

  /** Whether replicas have to be asked. */
  boolean isClosing() {
    return !live && (use == Use.QUARANTINE || (use == Use.COMMITTED && !settled));
  }

  void give(long number, long newClient) {
    if (use == Use.FREE) {
      use = Use.GRANTED;
      generation = number;
    }
    grant = number;
    client = newClient;
    live = true;
    settled = false;
    newRound();
  }

  /** The grant ends; the writer may still be writing. */
  void end() {
    if (live) {
      live = false;
      use = use == Use.GRANTED ? Use.QUARANTINE : use;
      newRound();
    }
  }

  void delete() {
    live = false;
    use = Use.QUARANTINE;
    readersLast = !settled;
    Arrays.fill(cells, 0);
    newRound();
  }

  /** As a group does that takes answers about readers that are older than the deletion. */
  void deleteKeepingAnswers() {
    Set<Replica> answered = Set.copyOf(fenced);
    delete();
    fenced.addAll(answered);
    readersLast = false;
  }

  void newRound() {
    round++;
    fenced.clear();
    asked.clear();
  }

  /** Every replica has answered. */
  void close() {
    settled = true;
    if (use == Use.QUARANTINE && !readersLast) {
      use = Use.FREE;
    }
    readersLast = false;
    newRound();
  }
}
