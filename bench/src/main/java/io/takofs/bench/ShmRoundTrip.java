package io.takofs.bench;

import io.takofs.transport.Access;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What the shm transport itself costs, without a file system on it: the round trip of a
 * writeWithImmediate of 64 bytes each way between two processes, the initiator's time to post one,
 * and what a sleeping awaiter uses. Prints; asserts nothing.
 */
public final class ShmRoundTrip {
  private static final int WARM_UP = 50_000;
  private static final int ROUNDS = 200_000;
  private static final int MESSAGE = 64;
  private static final int DEPTH = 64;
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  private ShmRoundTrip() {}

  /** Without arguments measures; with an endpoint, echoes. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length == 1) {
      try (Side side = new Side()) {
        side.echo(args[0]);
      }
      return;
    }
    try (Side side = new Side()) {
      side.measure();
    }
  }

  /** One process's transport, queue and buffer. */
  private static final class Side implements AutoCloseable, CompletionHandler {
    private final Transport transport = ShmTransport.create();
    private final ProtectionDomain domain = transport.allocateProtectionDomain();
    private final CompletionQueue queue = transport.createCompletionQueue(4 * DEPTH);
    private final MemoryRegion memory = domain.allocate(4096, Access.REMOTE_READ_WRITE);
    private final ScatterGather message = new ScatterGather().add(memory, 0, MESSAGE);
    private volatile QueuePair pair;
    private volatile boolean ended;
    private long peerAddress;
    private int peerKey;
    private int arrived;

    Side() throws IOException {}

    QueuePairConfig config() {
      return new QueuePairConfig(domain, queue, queue, DEPTH, DEPTH);
    }

    byte[] memoryName() {
      return ByteBuffer.allocate(12)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putLong(memory.address())
          .putInt(memory.rkey())
          .array();
    }

    void connected(QueuePair connected) {
      ByteBuffer name =
          ByteBuffer.wrap(connected.remotePrivateData()).order(ByteOrder.LITTLE_ENDIAN);
      peerAddress = name.getLong();
      peerKey = name.getInt();
      for (int i = 0; i < DEPTH; i++) {
        connected.postReceive(i);
      }
      pair = connected;
    }

    @Override
    public void onCompletion(
        QueuePair from, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
      if (status != CompletionStatus.SUCCESS) {
        ended = true;
      } else if (opcode == Opcode.RECEIVE_IMMEDIATE) {
        arrived++;
        from.postReceive(id);
      }
    }

    void send() {
      pair.writeWithImmediate(0, message, peerAddress, peerKey, 7, 0);
      pair.ring();
    }

    void awaitOne() {
      while (arrived == 0 && !ended) {
        if (queue.poll(this, 16) == 0) {
          queue.await(SECOND_NS);
        }
      }
      arrived--;
    }

    void echo(String endpoint) throws IOException {
      connected(transport.connect(endpoint, config(), memoryName(), 10 * SECOND_NS));
      while (!ended) {
        awaitOne();
        if (!ended) {
          send();
        }
      }
    }

    void measure() throws IOException, InterruptedException {
      Side side = this;
      ConnectionAcceptor acceptor =
          new ConnectionAcceptor() {
            @Override
            public Accept onConnect(String remoteName, byte[] privateData) {
              return new Accept(config(), memoryName());
            }

            @Override
            public void onConnected(QueuePair queuePair, Accept accept) {
              side.connected(queuePair);
            }

            @Override
            public void onAborted(Accept accept) {}

            @Override
            public void onDisconnected(QueuePair queuePair) {}
          };
      try (Transport.Listener listener = transport.listen("", acceptor)) {
        Process peer = startPeer(listener.endpoint());
        while (pair == null) {
          queue.await(SECOND_NS / 100);
        }
        print("round trip, 64 bytes and an immediate each way", roundTrips());
        print("posting one write of 64 bytes and an immediate", posts());
        printIdle();
        pair.close();
        peer.waitFor();
      }
    }

    private static Process startPeer(String endpoint) throws IOException {
      return new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-cp",
              System.getProperty("java.class.path"),
              ShmRoundTrip.class.getName(),
              endpoint)
          .inheritIO()
          .start();
    }

    private Histogram roundTrips() {
      Histogram times = new Histogram(SECOND_NS, 3);
      for (int i = 0; i < WARM_UP + ROUNDS; i++) {
        long start = System.nanoTime();
        send();
        awaitOne();
        if (i >= WARM_UP) {
          times.recordValue(Math.min(SECOND_NS, System.nanoTime() - start));
        }
      }
      return times;
    }

    /** Time inside stage and ring alone; the reply is awaited outside of it. */
    private Histogram posts() {
      Histogram times = new Histogram(SECOND_NS, 3);
      for (int i = 0; i < ROUNDS; i++) {
        long start = System.nanoTime();
        send();
        times.recordValue(Math.min(SECOND_NS, System.nanoTime() - start));
        awaitOne();
      }
      return times;
    }

    private void printIdle() {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long cpu = threads.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      while (System.nanoTime() - start < 5 * SECOND_NS) {
        queue.await(SECOND_NS);
        queue.poll(this, 16);
      }
      double share =
          (threads.getCurrentThreadCpuTime() - cpu) / (double) (System.nanoTime() - start);
      System.out.printf("%-50s %.3f %% of a core%n", "idle awaiter", 100 * share);
    }

    private static void print(String what, Histogram times) {
      System.out.printf(
          "%-50s median %6d ns, 99 %% %6d ns, 99.9 %% %6d ns, mean %6.0f ns%n",
          what,
          times.getValueAtPercentile(50),
          times.getValueAtPercentile(99),
          times.getValueAtPercentile(99.9),
          times.getMean());
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
