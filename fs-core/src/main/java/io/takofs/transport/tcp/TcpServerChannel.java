package io.takofs.transport.tcp;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Consumer;

/** Netty's listening channel, which makes {@link TcpChannel}s. */
final class TcpServerChannel extends NioServerSocketChannel {
  private final Consumer<TcpChannel> onAccepted;

  /**
   * A channel that will listen.
   *
   * @param onAccepted sees each channel that it makes, before anything else does
   */
  TcpServerChannel(Consumer<TcpChannel> onAccepted) {
    this.onAccepted = onAccepted;
  }

  @Override
  protected int doReadMessages(List<Object> accepted) throws Exception {
    SocketChannel socket = javaChannel().accept();
    if (socket == null) {
      return 0;
    }
    TcpChannel channel = new TcpChannel(this, socket);
    onAccepted.accept(channel);
    accepted.add(channel);
    return 1;
  }
}
