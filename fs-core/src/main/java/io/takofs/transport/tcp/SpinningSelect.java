package io.takofs.transport.tcp;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import io.takofs.base.Clock;
import io.takofs.transport.Spin;

/**
 * An event loop that has just had something to do looks for more a while before it sleeps: the next
 * call of a client that waits for each reply comes sooner than the loop would be awake again.
 *
 * <p>Thread rule: the event loop's.
 */
final class SpinningSelect implements SelectStrategy {
  private final Clock clock;
  private final Spin spin = new Spin();
  private int budgetNs;
  private long beganNs;
  private boolean spinning;

  SpinningSelect(Clock clock) {
    this.clock = clock;
  }

  @Override
  public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
    int ready = selectNow.get();
    if (ready > 0 || hasTasks) {
      if (spinning) {
        spinning = false;
        spin.end(budgetNs, clock.nanoTime() - beganNs < budgetNs);
      }
      return ready;
    }
    if (!spinning) {
      spinning = true;
      budgetNs = spin.begin();
      beganNs = clock.nanoTime();
    } else if (clock.nanoTime() - beganNs >= budgetNs) {
      spinning = false;
      spin.end(budgetNs, false);
      return SELECT;
    } else if (Spin.mayYield(budgetNs)) {
      clock.yieldUntil(() -> false, 1); // to those who are to bring the news
    }
    return CONTINUE;
  }
}
