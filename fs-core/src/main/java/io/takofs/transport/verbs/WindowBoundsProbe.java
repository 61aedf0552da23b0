package io.takofs.transport.verbs;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * Tries whether a device looks at the bounds of a memory window, and not only at those of the
 * region that it is bound to: a pair of this process writes to another through a window in the
 * middle of a region, and then over either end of the window.
 *
 * <p>Thread rule: one thread, which may wait.
 */
final class WindowBoundsProbe implements ConnectionAcceptor, AutoCloseable {
  /**
   * Bytes of the window, as few as there ever are: the checksum entries of one unit. The region has
   * as many before and after it.
   */
  private static final int WINDOW = Layout.UNIT_SIZE / Layout.GRANULE_SIZE * Integer.BYTES;

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

  private final VerbsTransport transport;
  private final VerbsProtectionDomain domain;
  private final CompletionQueue completions;
  private final MemoryRegion target;
  private final MemoryRegion source;
  private final Transport.Listener listener;
  private final Queue<QueuePair> accepted = new ConcurrentLinkedQueue<>();
  private CompletionStatus done; // of the operation that is waited for

  /** Uses {@code transport}, which stays its owner's, until it is closed. */
  WindowBoundsProbe(VerbsTransport transport) throws IOException {
    this.transport = transport;
    domain = (VerbsProtectionDomain) transport.allocateProtectionDomain();
    completions = transport.createCompletionQueue(2);
    target = domain.allocate(3 * WINDOW, Access.REMOTE_READ);
    source = domain.allocate(Long.BYTES, Access.LOCAL);
    listener = transport.listen("", this);
  }

  /**
   * Whether writes over the ends of a window are refused.
   *
   * @param exact whether the window is bound to the whole region; else to a region of its own size
   * @throws IOException when that could not be tried
   */
  boolean refusesBeyond(boolean exact) throws IOException {
    return refuses(exact, WINDOW - Integer.BYTES) && refuses(exact, 2 * WINDOW - Integer.BYTES);
  }

  /** One attempt has a connection of its own, which ends with the refusal. */
  private boolean refuses(boolean exact, int offset) throws IOException {
    QueuePairConfig config = new QueuePairConfig(domain, completions, completions, 2, 0);
    try (QueuePair writer =
        transport.connect(listener.endpoint(), config, new byte[0], TIMEOUT_NS)) {
      int rkey = bind(accepted.element(), exact);
      if (write(writer, WINDOW, rkey) != CompletionStatus.SUCCESS) {
        throw new TakoException(Status.UNAVAILABLE, "a write through a memory window failed");
      }
      return write(writer, offset, rkey) == CompletionStatus.REMOTE_ACCESS_ERROR;
    } finally {
      closeAccepted();
    }
  }

  private int bind(QueuePair pair, boolean exact) throws IOException {
    VerbsMemoryWindow window = domain.allocateWindow(exact); // ends with its pair
    Access access = Access.REMOTE_READ_WRITE;
    pair.bind(0, window, target, WINDOW, WINDOW, access, QueuePair.SIGNALED);
    if (await(pair) != CompletionStatus.SUCCESS) {
      throw new TakoException(Status.UNAVAILABLE, "a memory window could not be bound");
    }
    return window.rkey();
  }

  private CompletionStatus write(QueuePair pair, int offset, int rkey) throws IOException {
    ScatterGather bytes = new ScatterGather().add(source, 0, Long.BYTES);
    pair.write(0, bytes, target.address() + offset, rkey, QueuePair.SIGNALED);
    return await(pair);
  }

  /** Posts the one operation that is staged, and waits for its end. */
  private CompletionStatus await(QueuePair pair) throws IOException {
    long deadlineNs = System.nanoTime() + TIMEOUT_NS;
    done = null;
    pair.ring();
    while (done == null) {
      long left = deadlineNs - System.nanoTime();
      if (left <= 0) {
        throw new TakoException(Status.DEADLINE_EXCEEDED, "an operation was not completed in time");
      }
      completions.await(left);
      completions.poll((which, id, opcode, status, bytes, immediate) -> done = status, 1);
    }
    return done;
  }

  private void closeAccepted() {
    for (QueuePair pair = accepted.poll(); pair != null; pair = accepted.poll()) {
      pair.close();
    }
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) {
    return new Accept(new QueuePairConfig(domain, completions, completions, 2, 0), new byte[0]);
  }

  @Override
  public void onConnected(QueuePair queuePair, Accept accept) {
    accepted.add(queuePair);
  }

  @Override
  public void close() {
    listener.close();
    closeAccepted();
    completions.close();
    domain.close();
  }
}
