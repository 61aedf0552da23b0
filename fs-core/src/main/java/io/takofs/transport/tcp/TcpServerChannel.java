package io.takofs.transport.tcp;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Netty's listening channel, which makes {@link TcpChannel}s. */
final class TcpServerChannel extends NioServerSocketChannel {
  /** Pause between a failed accept and the next one. */
  static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final Logger LOG = LoggerFactory.getLogger(TcpServerChannel.class);

  private final Consumer<TcpChannel> onAccepted;
  private volatile int failures; // written by the event loop

  /**
   * A channel that will listen.
   *
   * @param onAccepted sees each channel that it makes, before anything else does
   */
  TcpServerChannel(Consumer<TcpChannel> onAccepted) {
    this.onAccepted = onAccepted;
  }

  @Override
  protected int doReadMessages(List<Object> accepted) {
    SocketChannel socket = null;
    try {
      socket = javaChannel().accept();
      if (socket == null) {
        return 0;
      }
      TcpChannel channel = new TcpChannel(this, socket);
      onAccepted.accept(channel);
      accepted.add(channel);
      failures = 0;
      return 1;
    } catch (IOException | RuntimeException | Error e) {
      failed(socket, e);
      return 0;
    }
  }

  /**
   * A connection that cannot be accepted, for want of file descriptors for example, stays where it
   * is, and the channel ready: so accepting rests for a while. Netty alone would rest as well, and
   * print a stack trace each time.
   */
  private void failed(SocketChannel socket, Throwable cause) {
    int before = failures;
    failures = before + 1;
    if (before == 0) {
      LOG.warn(
          "cannot accept connections at {}, trying again every {} ms: {}",
          localAddress(),
          TimeUnit.NANOSECONDS.toMillis(ACCEPT_PAUSE_NS),
          cause.toString());
    }
    config().setAutoRead(false);
    var unused =
        eventLoop()
            .schedule(() -> config().setAutoRead(true), ACCEPT_PAUSE_NS, TimeUnit.NANOSECONDS);
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        LOG.debug("closing a connection that cannot be served", e);
      }
    }
  }

  /** Attempts to accept that have failed since one succeeded. */
  int failures() {
    return failures;
  }
}
