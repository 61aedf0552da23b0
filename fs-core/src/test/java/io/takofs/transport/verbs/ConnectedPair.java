package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Two transports in this process, and as many pairs between them as a test wants. */
final class ConnectedPair implements ConnectionAcceptor, AutoCloseable {
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
  static final int DEPTH = 16;

  final Side client;
  final Side server;
  private final Transport.Listener listener;
  private final BlockingQueue<QueuePair> accepted = new LinkedBlockingQueue<>();

  ConnectedPair(int queueCapacity) throws IOException {
    client = new Side(queueCapacity);
    server = new Side(queueCapacity);
    listener = server.transport.listen("", this);
  }

  /** One completion. */
  record Done(QueuePair pair, long id, Opcode opcode, CompletionStatus status) {}

  /** Both ends of a connection. */
  record Ends(VerbsQueuePair client, VerbsQueuePair server) {}

  /** The objects of one end. */
  static final class Side implements AutoCloseable {
    final VerbsTransport transport;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    private final Queue<Done> seen = new ArrayDeque<>();

    Side(int queueCapacity) throws IOException {
      transport = VerbsTransport.create(Optional.empty());
      domain = transport.allocateProtectionDomain();
      queue = transport.createCompletionQueue(queueCapacity);
    }

    QueuePairConfig config() {
      return new QueuePairConfig(domain, queue, queue, DEPTH, DEPTH);
    }

    /** Waits for the next completion. */
    Done next() {
      long start = System.nanoTime();
      while (seen.isEmpty()) {
        assertThat(System.nanoTime() - start).as("waited in vain").isLessThan(TIMEOUT_NS);
        queue.await(TimeUnit.MILLISECONDS.toNanos(100));
        drain();
      }
      return seen.remove();
    }

    void drain() {
      queue.poll(
          (pair, id, opcode, status, bytes, immediate) ->
              seen.add(new Done(pair, id, opcode, status)),
          DEPTH);
    }

    @Override
    public void close() {
      transport.close();
    }
  }

  Ends connect() throws IOException, InterruptedException {
    QueuePair made =
        client.transport.connect(listener.endpoint(), client.config(), new byte[0], TIMEOUT_NS);
    return new Ends((VerbsQueuePair) made, nextAccepted());
  }

  /** The endpoint of the server side. */
  String endpoint() {
    return listener.endpoint();
  }

  /** The server's end of the next connection. */
  VerbsQueuePair nextAccepted() throws InterruptedException {
    return (VerbsQueuePair) accepted.poll(TIMEOUT_NS, TimeUnit.NANOSECONDS);
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) {
    return new Accept(server.config(), new byte[0]);
  }

  @Override
  public void onConnected(QueuePair queuePair, Accept accept) {
    accepted.add(queuePair);
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
