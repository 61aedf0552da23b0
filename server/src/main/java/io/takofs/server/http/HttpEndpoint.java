package io.takofs.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.takofs.server.report.History;
import io.takofs.server.report.HostText;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Listens for HTTP. A connection carries one request and lives for a bounded time, and there are so
 * many of them at most: a client that is slow, or sends nonsense, keeps others from the pages for a
 * moment and nobody from the file system. Its thread also takes the samples that the charts show.
 *
 * <p>Thread rule: any thread.
 */
public final class HttpEndpoint implements AutoCloseable {
  private static final int CONNECTIONS_MAX = 64;
  private static final Duration LIFE = Duration.ofSeconds(15);
  private static final int STOP_S = 15;
  private static final int LINE_MAX = 8192;
  private static final int HEADERS_MAX = 8192;
  private static final int CHUNK_MAX = 4096;

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("tako-http", true), NioIoHandler.newFactory());
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  private HttpEndpoint(InetSocketAddress address, Site site, Duration life) throws IOException {
    if (address.isUnresolved()) {
      close(null);
      throw new IOException(
          "cannot listen on " + address + ": unknown host '" + address.getHostString() + "'");
    }
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteBufferWaterMark.DEFAULT)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accept(channel, site, life);
                  }
                });
    var bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      close(null);
      throw new IOException("cannot listen on " + address + ": " + bound.cause().getMessage());
    }
    listener = bound.channel();
    var unused =
        loop.scheduleWithFixedDelay(
            site::sample, 0, History.PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Shows {@code site}.
   *
   * @param port 0 for a free one
   * @throws IOException when nothing can listen there
   */
  public static HttpEndpoint listen(String host, int port, Site site) throws IOException {
    return listen(host, port, site, LIFE);
  }

  /** With connections that live so long at most. */
  static HttpEndpoint listen(String host, int port, Site site, Duration life) throws IOException {
    return new HttpEndpoint(new InetSocketAddress(host, port), site, life);
  }

  private void accept(Channel connection, Site site, Duration life) {
    if (connections.size() >= CONNECTIONS_MAX) {
      end(connection);
      return;
    }
    connections.add(connection);
    var atEnd =
        connection
            .eventLoop()
            .schedule(() -> end(connection), life.toMillis(), TimeUnit.MILLISECONDS);
    var unused = connection.closeFuture().addListener(closed -> atEnd.cancel(false));
    connection
        .pipeline()
        .addLast(new HttpServerCodec(LINE_MAX, HEADERS_MAX, CHUNK_MAX), new RequestHandler(site));
  }

  private static void end(Channel connection) {
    var unused = connection.close();
  }

  /** The URL of the pages. */
  public String url() {
    InetSocketAddress bound = (InetSocketAddress) listener.localAddress();
    return "http://" + HostText.of(bound.getAddress(), bound.getPort()) + "/";
  }

  @Override
  public void close() {
    close(listener);
  }

  private void close(Channel listening) {
    if (listening != null) {
      listening.close().awaitUninterruptibly();
    }
    connections.close().awaitUninterruptibly();
    loop.shutdownGracefully(0, STOP_S, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
