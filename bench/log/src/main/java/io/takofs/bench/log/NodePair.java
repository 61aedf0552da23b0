package io.takofs.bench.log;

import io.takofs.base.Undo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Two servers in this process, which take turns: the first one leads, the second one follows.
 * Neither gives anything up.
 *
 * <p>Thread rule: one thread.
 */
final class NodePair implements AutoCloseable {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int OTHER_SLOTS = 8;

  private final LogNode first;
  private final LogNode second;

  /**
   * @param directory for the files of their logs
   * @param slots segments of the log
   */
  NodePair(FrameWay way, String transport, Path directory, int slots) throws IOException {
    try (Undo undo = new Undo()) {
      first = undo.add(node(1, way, transport, directory, slots, OTHER_SLOTS));
      second = undo.add(node(2, way, transport, directory, OTHER_SLOTS, slots));
      first.connect(second.endpoint());
      second.connect(first.endpoint());
      long end = System.nanoTime() + TIMEOUT_NS;
      while (!first.leads()) {
        turn(end);
      }
      while (leader().log().commitIndex() == 0) {
        turn(end); // the entry with which its term begins
      }
      undo.keep();
    }
  }

  private static LogNode node(
      int number, FrameWay way, String transport, Path directory, int led, int followed)
      throws IOException {
    LogNode node =
        new LogNode(
            number, way, BenchTransports.open(transport, directory), directory, led, followed);
    node.keepAll();
    return node;
  }

  /** The node that takes proposals. */
  BenchMember leader() {
    return first.leader();
  }

  /** The other member of the leader's group. */
  LogNode follower() {
    return second;
  }

  /** Goes on until the entry {@code index} is committed. */
  void turnUntilCommitted(long index) throws IOException {
    turnUntil(() -> leader().log().commitIndex() >= index);
  }

  /** Goes on until {@code done}. */
  void turnUntil(BooleanSupplier done) throws IOException {
    long end = System.nanoTime() + TIMEOUT_NS;
    while (!done.getAsBoolean()) {
      turn(end);
    }
  }

  private void turn(long endNs) throws IOException {
    first.serve(System.nanoTime());
    first.poll();
    second.serve(System.nanoTime());
    if (System.nanoTime() - endNs > 0) {
      throw new IOException("the servers of a log do not go on: " + leader().replica());
    }
  }

  @Override
  public void close() {
    first.close();
    second.close();
  }
}
