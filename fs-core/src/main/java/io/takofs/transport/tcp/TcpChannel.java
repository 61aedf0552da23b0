package io.takofs.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.UncheckedBooleanSupplier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Netty's socket channel, whose bytes go where a {@link TcpInput} wants them instead of through
 * buffers of Netty's.
 *
 * <p>Thread rule: the event loop; {@link #socket} may be written by any thread that no other writes
 * beside.
 */
final class TcpChannel extends NioSocketChannel {
  private static final Logger LOG = LoggerFactory.getLogger(TcpChannel.class);

  private TcpInput input;

  /** A channel that will connect. */
  TcpChannel() {
    prepare();
  }

  /** A channel that a listener accepted. */
  TcpChannel(Channel parent, SocketChannel socket) {
    super(parent, socket);
    prepare();
  }

  private void prepare() {
    config().setTcpNoDelay(true);
    config().setRecvByteBufAllocator(Turn::new);
    // A failed write leaves what the peer said last to be read.
    config().setOption(ChannelOption.AUTO_CLOSE, false);
    pipeline().addLast(new Events());
  }

  void input(TcpInput newInput) {
    input = newInput;
  }

  SocketChannel socket() {
    return javaChannel();
  }

  /** Runs a task on the event loop, later; never if the transport is closed. */
  void onLoop(Runnable task) {
    try {
      eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // The transport is closed, and everything made from it is at its end.
    }
  }

  /** Runs a task on the event loop after a delay; never if the transport is closed. */
  void onLoop(Runnable task, long delayNs) {
    try {
      var unused = eventLoop().schedule(task, delayNs, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // As above.
    }
  }

  /** The peer as host:port. */
  String remoteName() {
    InetSocketAddress remote = remoteAddress();
    return remote == null
        ? "an unknown peer"
        : HostPort.format(remote.getAddress().getHostAddress(), remote.getPort());
  }

  /** Closes the socket at once, from any thread; when it returns no thread is writing to it. */
  void closeNow() {
    try {
      javaChannel().close();
    } catch (IOException e) {
      // It is closed anyway.
    }
    var unused = close();
  }

  @Override
  protected int doReadBytes(ByteBuf unused) throws Exception {
    return input.read(javaChannel());
  }

  /** Reads for one turn of the event loop: until the socket is empty or the turn is long enough. */
  private final class Turn implements RecvByteBufAllocator.ExtendedHandle {
    private static final int BYTES_MAX = 2 << 20;

    private int bytes;
    private int last;

    @Override
    public ByteBuf allocate(ByteBufAllocator allocator) {
      return Unpooled.EMPTY_BUFFER;
    }

    @Override
    public int guess() {
      return 0;
    }

    @Override
    public void reset(ChannelConfig config) {
      bytes = 0;
    }

    @Override
    public void incMessagesRead(int count) {}

    @Override
    public void lastBytesRead(int count) {
      last = count;
      bytes += Math.max(0, count);
    }

    @Override
    public int lastBytesRead() {
      return last;
    }

    @Override
    public void attemptedBytesRead(int count) {}

    @Override
    public int attemptedBytesRead() {
      return 0;
    }

    @Override
    public boolean continueReading() {
      return last > 0 && bytes < BYTES_MAX && input.wantsMore();
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
      return continueReading();
    }

    @Override
    public void readComplete() {}
  }

  private final class Events extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object unused) {}

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      input.readComplete();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      input.closed("the peer closed the connection");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      // The key is cancelled when another thread closes the socket between two steps of a read.
      if (!(cause instanceof IOException || cause instanceof CancelledKeyException)) {
        LOG.error("closing the connection to {}", remoteName(), cause);
      }
      input.closed("the connection failed: " + cause.getMessage());
      closeNow();
    }
  }
}
