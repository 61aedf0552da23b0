package io.takofs.transport.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One side of connections in tests, with what every queue pair needs, and the events it heard. */
final class Peer implements ConnectionEvents, AutoCloseable {
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
  private static final QueuePairCaps CAPS = new QueuePairCaps(16, 16, 2, 64);

  final VerbsControl control;
  final VerbsDomain domain;
  final VerbsChannel channel;
  final VerbsCompletions completions;
  final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  final BlockingQueue<VerbsConnection> requests = new LinkedBlockingQueue<>();
  volatile byte[] answer = {};
  volatile boolean refuses;
  volatile boolean waits;

  Peer() throws IOException {
    control = VerbsControl.open(Optional.empty());
    domain = control.allocateDomain();
    channel = control.createChannel();
    completions = control.createCompletions(64, channel);
  }

  VerbsListener listen() throws IOException {
    return control.listen(new InetSocketAddress(control.address(), 0), this);
  }

  VerbsConnection resolve(InetSocketAddress address) throws IOException {
    VerbsConnection connection = control.resolve(address, this, TIMEOUT_NS);
    connection.createQueuePair(domain, completions, completions, CAPS);
    return connection;
  }

  void accept(VerbsConnection connection) throws IOException {
    connection.createQueuePair(domain, completions, completions, CAPS);
    connection.accept(answer);
  }

  String nextHeard() throws InterruptedException {
    return heard.poll(30, TimeUnit.SECONDS);
  }

  VerbsConnection nextRequest() throws InterruptedException {
    return requests.poll(30, TimeUnit.SECONDS);
  }

  @Override
  public void onRequest(VerbsConnection connection, byte[] privateData) {
    heard.add(("request " + new String(privateData, UTF_8).replace("\0", "")).strip());
    try {
      if (refuses) {
        connection.reject(answer);
        connection.close();
      } else if (!waits) {
        accept(connection);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    requests.add(connection);
  }

  @Override
  public void onEstablished(VerbsConnection connection) {
    heard.add("established");
  }

  @Override
  public void onDisconnected(VerbsConnection connection, String reason) {
    heard.add("disconnected: " + reason);
  }

  @Override
  public void close() {
    control.close();
  }
}
