package io.takofs.transport.tcp;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;

/** Netty's listening channel, which makes {@link TcpChannel}s. */
final class TcpServerChannel extends NioServerSocketChannel {
  @Override
  protected int doReadMessages(List<Object> accepted) throws Exception {
    SocketChannel socket = javaChannel().accept();
    if (socket == null) {
      return 0;
    }
    accepted.add(new TcpChannel(this, socket));
    return 1;
  }
}
