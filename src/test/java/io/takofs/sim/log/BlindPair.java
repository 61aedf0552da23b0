package io.takofs.sim.log;

import io.takofs.transport.QueuePair;
import java.util.function.Consumer;

/**
 * A leader's connection to a member that comes back by itself after an error, under the grant it
 * had: what was under way is taken for written ({@link BlindQueue}), and the next write is the next
 * one.
 */
final class BlindPair extends ForwardedPair {
  private final Consumer<Consumer<QueuePair>> reconnect;
  private QueuePair pair;
  private boolean over; // the member lets nobody in under that grant any more
  private boolean asked;

  /**
   * @param reconnect gives a new connection, or null, later
   */
  BlindPair(QueuePair pair, Consumer<Consumer<QueuePair>> reconnect) {
    this.pair = pair;
    this.reconnect = reconnect;
  }

  @Override
  QueuePair pair() {
    return pair;
  }

  @Override
  public State state() {
    if (over || pair.state() != State.ERROR) {
      return pair.state();
    }
    if (!asked) {
      asked = true;
      reconnect.accept(
          next -> {
            asked = false;
            if (next == null) {
              over = true;
            } else if (pair.state() == State.CLOSED) {
              next.close();
            } else {
              pair.close();
              pair = next;
            }
          });
    }
    return State.CONNECTED;
  }
}
