package io.takofs.transport.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.takofs.base.Clock;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Queue pairs over TCP. Endpoints are {@code host:port}.
 *
 * <p>Thread rule: any thread; {@link #connect} and {@link #close} not on its own event loops,
 * because they wait for them.
 */
public final class TcpTransport implements Transport {
  /** The most operations that one side of a pair may have outstanding. */
  static final int MAX_SENDS = 16384;

  private static final long HELLO_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int BACKLOG = 1024;

  /** Odd, so that its multiples are all different; large, so that no two keys look alike. */
  private static final int KEY_STEP = 0x9e37_79b1;

  private final TcpSettings settings;
  private final EventLoopGroup loops;
  private final TransportCounters counters = new TransportCounters();
  private final Set<TcpQueuePair> pairs = ConcurrentHashMap.newKeySet();
  private final Set<TcpChannel> accepted = ConcurrentHashMap.newKeySet();
  private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicInteger pairNumbers = new AtomicInteger();
  private final AtomicInteger keys = new AtomicInteger();
  private volatile boolean closed;

  public TcpTransport(TcpSettings settings) {
    this.settings = settings;
    this.loops =
        new MultiThreadIoEventLoopGroup(
            settings.eventLoops(),
            new DefaultThreadFactory("tako-tcp", true),
            NioIoHandler.newFactory(SelectorProvider.provider(), selecting(settings)));
  }

  private static SelectStrategyFactory selecting(TcpSettings settings) {
    return settings.loopsSpin()
        ? () -> new SpinningSelect(Clock.SYSTEM)
        : DefaultSelectStrategyFactory.INSTANCE;
  }

  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return new TcpProtectionDomain(() -> keys.addAndGet(KEY_STEP), counters);
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    return new TcpCompletionQueue(capacity, counters);
  }

  @Override
  public Transport.Listener listen(String endpoint, ConnectionAcceptor acceptor)
      throws IOException {
    return listen(endpoint, acceptor, List::of);
  }

  /**
   * As {@link #listen(String, ConnectionAcceptor)}, and answers {@link #discover} on the same port.
   *
   * @param offers asked on an event loop for each discovery
   */
  public Transport.Listener listen(
      String endpoint, ConnectionAcceptor acceptor, Supplier<List<OfferedTransport>> offers)
      throws IOException {
    InetSocketAddress address = HostPort.parse(endpoint);
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channelFactory(() -> new TcpServerChannel(this::keep))
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childHandler(
                new ChannelInitializer<TcpChannel>() {
                  @Override
                  protected void initChannel(TcpChannel channel) {
                    TcpServerHandshake handshake =
                        new TcpServerHandshake(TcpTransport.this, channel, acceptor, offers);
                    channel.input(handshake);
                    channel.onLoop(handshake::timedOut, HELLO_TIMEOUT_NS);
                  }
                });
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "cannot listen on " + endpoint + ": " + bound.cause().getMessage(), bound.cause());
    }
    int port = ((InetSocketAddress) bound.channel().localAddress()).getPort();
    Listener listener =
        new Listener(bound.channel(), HostPort.format(HostPort.host(endpoint), port));
    listeners.add(listener);
    return listener;
  }

  private void keep(TcpChannel channel) {
    accepted.add(channel);
    channel.closeFuture().addListener(done -> accepted.remove(channel));
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    checkConfig(config, privateData);
    return converse(
        endpoint,
        TcpHandshake.hello(Layout.TCP_CONNECT, config.maxSends(), privateData),
        Layout.TCP_ACCEPTED,
        channel -> (maxSends, answer) -> newPair(channel, config, maxSends, answer),
        QueuePair::close,
        timeoutNs);
  }

  /** Asks the listener at {@code endpoint} which transports its server offers beside tcp. */
  public List<OfferedTransport> discover(String endpoint, long timeoutNs) throws IOException {
    return converse(
        endpoint,
        TcpHandshake.hello(Layout.TCP_DISCOVER, 0, new byte[0]),
        Layout.TCP_OFFERS,
        channel -> (maxSends, answer) -> OfferList.decode(endpoint, answer),
        offers -> {},
        timeoutNs);
  }

  /** Makes the receiver of an answer over a channel. */
  private interface AnswerOn<T> {
    TcpClientHandshake.Answer<T> over(TcpChannel channel);
  }

  /**
   * Connects, says hello and waits for the answer.
   *
   * @param unwanted takes what the answer became, if nobody waits for it any more
   */
  private <T> T converse(
      String endpoint,
      ByteBuffer hello,
      int wantedStatus,
      AnswerOn<T> onAnswer,
      Consumer<T> unwanted,
      long timeoutNs)
      throws IOException {
    InetSocketAddress address = HostPort.parse(endpoint);
    Invariant.check(!closed, "connecting with a closed tcp transport");
    CompletableFuture<T> result = new CompletableFuture<>();
    long timeoutMs = Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
    ChannelFuture connecting =
        new Bootstrap()
            .group(loops)
            .channelFactory(TcpChannel::new)
            // The wait below has the exact limit; this one only ends the attempt itself.
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                (int) Math.min(Integer.MAX_VALUE, timeoutMs + 1000))
            .handler(
                new ChannelInitializer<TcpChannel>() {
                  @Override
                  protected void initChannel(TcpChannel channel) {
                    channel.input(
                        new TcpClientHandshake<>(
                            endpoint, wantedStatus, onAnswer.over(channel), result));
                  }
                })
            .connect(address);
    connecting.addListener(
        done -> {
          if (done.isSuccess()) {
            var unused = connecting.channel().writeAndFlush(Unpooled.wrappedBuffer(hello));
          } else {
            result.completeExceptionally(
                new IOException(
                    "cannot connect to "
                        + endpoint
                        + ": "
                        + reason(done.cause())
                        + "; does a Tako server run there?",
                    done.cause()));
          }
        });
    try {
      return result.get(timeoutNs, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      var unused = connecting.channel().close();
      throw e.getCause() instanceof TakoException known
          ? new TakoException(known.status(), known.getMessage(), known)
          : new IOException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      giveUp(connecting.channel(), result, unwanted);
      throw new IOException(
          connecting.isSuccess()
              ? endpoint
                  + " took the connection and said nothing for "
                  + timeoutMs
                  + " ms: not a Tako server, or one that is stuck"
              : "cannot connect to " + endpoint + ": no answer within " + timeoutMs + " ms",
          e);
    } catch (InterruptedException e) {
      giveUp(connecting.channel(), result, unwanted);
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while connecting to " + endpoint, e);
    }
  }

  /** Netty puts the address, which our message names, at the end of that of the system. */
  private static String reason(Throwable failure) {
    Throwable cause = failure.getCause();
    return cause != null && cause.getMessage() != null ? cause.getMessage() : failure.getMessage();
  }

  private static <T> void giveUp(
      Channel channel, CompletableFuture<T> result, Consumer<T> unwanted) {
    if (!result.cancel(false) && !result.isCompletedExceptionally()) {
      unwanted.accept(result.join());
    }
    var unused = channel.close();
  }

  /** Refuses what no pair can be made with. */
  void checkConfig(QueuePairConfig config, byte[] privateData) throws IOException {
    Invariant.check(
        config.domain() instanceof TcpProtectionDomain
            && config.sendQueue() instanceof TcpCompletionQueue
            && config.receiveQueue() instanceof TcpCompletionQueue,
        "a tcp queue pair of another transport's objects");
    if (config.maxSends() < 0 || config.maxSends() > MAX_SENDS || config.maxReceives() < 0) {
      throw new IOException(
          "a queue pair of "
              + config.maxSends()
              + " sends and "
              + config.maxReceives()
              + " receives; tcp allows 0 to "
              + MAX_SENDS
              + " sends");
    }
    if (privateData.length > Layout.TCP_PRIVATE_DATA_MAX) {
      throw new IOException(
          privateData.length
              + " bytes of private data; at most "
              + Layout.TCP_PRIVATE_DATA_MAX
              + " are allowed");
    }
  }

  /** Makes the pair of an established connection, on its event loop. */
  TcpQueuePair newPair(
      TcpChannel channel, QueuePairConfig config, int peerMaxSends, byte[] remotePrivateData) {
    TcpQueuePair pair =
        new TcpQueuePair(
            this, pairNumbers.incrementAndGet(), channel, config, peerMaxSends, remotePrivateData);
    pairs.add(pair);
    counters.add(Counter.CONNECTS, 1);
    if (closed) {
      pair.close();
    }
    return pair;
  }

  TcpSettings settings() {
    return settings;
  }

  /** A pair is no longer CONNECTED. */
  void forget(TcpQueuePair pair) {
    pairs.remove(pair);
  }

  @Override
  public void close() {
    closed = true;
    listeners.forEach(Listener::close);
    pairs.forEach(TcpQueuePair::close);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    // One that came last may have been handed to a loop that no longer took it: it would stay open.
    accepted.forEach(TcpChannel::closeNow);
  }

  /** A port that is listened on. */
  final class Listener implements Transport.Listener {
    private final Channel channel;
    private final String endpoint;

    Listener(Channel channel, String endpoint) {
      this.channel = channel;
      this.endpoint = endpoint;
    }

    /** Attempts to accept that have failed since one succeeded. */
    int failures() {
      return ((TcpServerChannel) channel).failures();
    }

    @Override
    public String endpoint() {
      return endpoint;
    }

    @Override
    public void close() {
      listeners.remove(this);
      channel.close().awaitUninterruptibly();
    }
  }
}
