package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Refusal;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.InvalidPathException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Makes one connection, on the caller's thread, within a deadline. */
final class ShmConnector {
  private final ShmTransport transport;
  private final String endpoint;
  private final long deadlineNs;

  ShmConnector(ShmTransport transport, String endpoint, long timeoutNs) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.deadlineNs = System.nanoTime() + timeoutNs;
  }

  QueuePair connect(QueuePairConfig config, byte[] privateData) throws IOException {
    try (Undo undo = new Undo()) {
      ControlConnection connection = new ControlConnection(undo.add(openChannel()));
      ShmQueuePair pair = undo.add(transport.newQueuePair(config));
      connection.send(pair.offer(privateData));
      Offer answer = await(connection);
      if (answer.isRefusal()) {
        throw Refusal.exception(endpoint, answer.refusal());
      }
      pair.connect(answer, connection, "shm server at " + endpoint, Optional.empty());
      watch(pair, connection);
      undo.keep();
      return pair;
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private SocketChannel openChannel() throws IOException {
    try (Undo undo = new Undo()) {
      SocketChannel channel = undo.add(SocketChannel.open(StandardProtocolFamily.UNIX));
      channel.configureBlocking(false);
      if (!channel.connect(UnixDomainSocketAddress.of(endpoint)) && !channel.finishConnect()) {
        throw new IOException("its queue of connections is full");
      }
      undo.keep();
      return channel;
    } catch (InvalidPathException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private Offer await(ControlConnection connection) throws IOException {
    try (Selector selector = Selector.open()) {
      SelectionKey key = connection.channel().register(selector, SelectionKey.OP_READ);
      for (; ; ) {
        Optional<Offer> offer = connection.receive();
        if (offer.isPresent()) {
          key.cancel();
          return offer.get();
        }
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
        if (leftMs <= 0) {
          throw new TakoException(
              Status.DEADLINE_EXCEEDED, "the process that listens there does not answer");
        }
        selector.select(leftMs);
        selector.selectedKeys().clear();
      }
    }
  }

  private void watch(ShmQueuePair pair, ControlConnection connection) {
    transport
        .control()
        .watch(
            connection.channel(),
            SelectionKey.OP_READ,
            () -> {
              if (!connection.isQuiet()) {
                pair.fail("the peer closed it or died");
              }
            });
  }

  private TakoException failed(IOException cause) {
    Status status = cause instanceof TakoException e ? e.status() : Status.UNAVAILABLE;
    String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return new TakoException(status, "cannot connect to " + endpoint + ": " + why, cause);
  }
}
