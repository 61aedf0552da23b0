package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A transport with memory windows that moves nothing and counts what is asked of it. */
public final class FakeDevice implements Transport {
  public final AtomicInteger domains = new AtomicInteger();
  public final AtomicInteger regions = new AtomicInteger();
  final AtomicInteger registrations = new AtomicInteger(); // ever made
  final AtomicInteger windows = new AtomicInteger();
  volatile IOException registrationFailure;
  public volatile boolean outOfWindows;

  /** Runs when something is registered. */
  volatile Runnable onRegister = () -> {};

  private final AtomicInteger lastKey = new AtomicInteger();
  private final TransportCounters counters;

  public FakeDevice() {
    this(Map::of);
  }

  public FakeDevice(Supplier<Map<String, Long>> deviceCounters) {
    counters = new TransportCounters(deviceCounters);
  }

  /** A queue pair and its signalled operations that are not done yet. */
  public record Pair(
      QueuePair pair, Queue<Long> posted, AtomicInteger binds, AtomicInteger revocations) {}

  /**
   * A queue pair.
   *
   * @param onRing hears of the signalled operations that are under way
   */
  public static Pair newPair(Consumer<Queue<Long>> onRing) {
    Queue<Long> staged = new ConcurrentLinkedQueue<>();
    Queue<Long> posted = new ConcurrentLinkedQueue<>();
    AtomicInteger binds = new AtomicInteger();
    AtomicInteger revocations = new AtomicInteger();
    QueuePair pair =
        (QueuePair)
            Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(),
                new Class<?>[] {QueuePair.class},
                (self, method, arguments) -> {
                  switch (method.getName()) {
                    case "bind" -> binds.incrementAndGet();
                    case "revoke" -> revocations.incrementAndGet();
                    case "ring" -> {
                      posted.addAll(staged);
                      staged.clear();
                      onRing.accept(posted);
                    }
                    default -> {}
                  }
                  boolean operation = arguments != null && arguments.length > 2;
                  if (operation && arguments[arguments.length - 1].equals(QueuePair.SIGNALED)) {
                    staged.add((Long) arguments[0]);
                  }
                  return switch (method.getName()) {
                    case "sendSlotsFree" -> 64;
                    case "state" -> QueuePair.State.CONNECTED;
                    case "revoke" -> true;
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == arguments[0];
                    default -> null;
                  };
                });
    return new Pair(pair, posted, binds, revocations);
  }

  private final class Domain implements ProtectionDomain {
    Domain() {
      domains.incrementAndGet();
    }

    @Override
    public MemoryRegion allocate(int length, Access access) {
      return new Region(length, access);
    }

    @Override
    public MemoryRegion register(MappedMemory memory, long offset, int length, Access access)
        throws IOException {
      onRegister.run();
      if (registrationFailure != null) {
        throw registrationFailure;
      }
      registrations.incrementAndGet();
      return new Region(length, access);
    }

    @Override
    public MemoryWindow allocateWindow() throws TakoException {
      if (outOfWindows) {
        throw new TakoException(Status.UNAVAILABLE, "the device has no window left");
      }
      windows.incrementAndGet();
      return new Window();
    }

    @Override
    public void close() {
      domains.decrementAndGet();
    }
  }

  private final class Window implements MemoryWindow {
    private final int key = lastKey.incrementAndGet();

    @Override
    public int rkey() {
      return key;
    }

    @Override
    public void close() {
      windows.decrementAndGet();
    }
  }

  private final class Region implements MemoryRegion {
    private final ByteBuffer buffer = ByteBuffer.allocate(0);
    private final int length;
    private final Access access;

    Region(int length, Access access) {
      this.length = length;
      this.access = access;
      regions.incrementAndGet();
    }

    @Override
    public ByteBuffer buffer() {
      return buffer.duplicate();
    }

    @Override
    public long address() {
      return 0;
    }

    @Override
    public int length() {
      return length;
    }

    @Override
    public int lkey() {
      return 0;
    }

    @Override
    public int rkey() {
      return 0;
    }

    @Override
    public Access access() {
      return access;
    }

    @Override
    public void close() {
      regions.decrementAndGet();
    }
  }

  /** Nothing completes by itself. */
  private static final class Completions implements CompletionQueue {
    private final Semaphore wakeups = new Semaphore(0);

    @Override
    public int poll(CompletionHandler handler, int max) {
      return 0;
    }

    @Override
    public void await(long timeoutNs) {
      try {
        if (wakeups.tryAcquire(timeoutNs, TimeUnit.NANOSECONDS)) {
          wakeups.drainPermits();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void wakeup() {
      wakeups.release();
    }

    @Override
    public boolean onEvent(Runnable callback) {
      return false;
    }

    @Override
    public void close() {}
  }

  @Override
  public String name() {
    return "fake";
  }

  @Override
  public boolean hasMemoryWindows() {
    return true;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return new Domain();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    return new Completions();
  }

  @Override
  public Listener listen(String endpoint, ConnectionAcceptor acceptor) throws IOException {
    throw new IOException("a device that nobody can listen on");
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    throw new IOException("a device that leads nowhere");
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public void close() {}
}
