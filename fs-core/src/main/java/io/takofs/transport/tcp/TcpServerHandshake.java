package io.takofs.transport.tcp;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for a hello and answers it. A peer that says something else is disconnected.
 *
 * <p>Thread rule: the event loop.
 */
final class TcpServerHandshake implements TcpInput {
  private static final Logger LOG = LoggerFactory.getLogger(TcpServerHandshake.class);

  private final TcpTransport transport;
  private final TcpChannel channel;
  private final ConnectionAcceptor acceptor;
  private final Supplier<List<OfferedTransport>> offers;
  private final ByteBuffer hello = TcpHandshake.newBuffer(Layout.TCP_HELLO_SIZE);
  private boolean answered;

  TcpServerHandshake(
      TcpTransport transport,
      TcpChannel channel,
      ConnectionAcceptor acceptor,
      Supplier<List<OfferedTransport>> offers) {
    this.transport = transport;
    this.channel = channel;
    this.acceptor = acceptor;
    this.offers = offers;
  }

  /** The peer has had time enough. */
  void timedOut() {
    if (!answered) {
      LOG.debug("{} connected and said no hello", channel.remoteName());
      channel.closeNow();
    }
  }

  @Override
  public int read(SocketChannel socket) throws IOException {
    if (answered) {
      // Behind a refusal nothing is read; the end of the stream must be seen.
      return TcpHandshake.read(socket, hello.clear());
    }
    int count = TcpHandshake.read(socket, hello);
    if (hello.position() >= Integer.BYTES
        && hello.getInt(Layout.TCP_HELLO_MAGIC_OFFSET) != Layout.TCP_MAGIC) {
      LOG.debug("{} does not speak Tako: '{}'", channel.remoteName(), TcpHandshake.shown(hello));
      return -1;
    }
    if (!hello.hasRemaining()) {
      answered = true;
      answer();
    }
    return count;
  }

  private void answer() {
    int version = hello.getInt(Layout.TCP_HELLO_PROTOCOL_VERSION_OFFSET);
    int kind = hello.getInt(Layout.TCP_HELLO_KIND_OFFSET);
    int length = hello.getInt(Layout.TCP_HELLO_LENGTH_OFFSET);
    int maxSends = hello.getInt(Layout.TCP_HELLO_MAX_SENDS_OFFSET);
    if (version != Layout.PROTOCOL_VERSION) {
      refuse(
          Status.VERSION_MISMATCH,
          "the server speaks version "
              + Layout.PROTOCOL_VERSION
              + " of the protocol, the client version "
              + version
              + ": use the same release on both");
    } else if (length < 0
        || length > Layout.TCP_PRIVATE_DATA_MAX
        || maxSends < 0
        || maxSends > TcpTransport.MAX_SENDS) {
      refuse(Status.MALFORMED, "the hello is malformed");
    } else if (kind == Layout.TCP_DISCOVER) {
      last(Layout.TCP_OFFERS, OfferList.encode(offers.get()));
    } else if (kind == Layout.TCP_CONNECT) {
      byte[] privateData = new byte[length];
      hello.get(Layout.TCP_HELLO_PRIVATE_DATA_OFFSET, privateData);
      connect(maxSends, privateData);
    } else {
      refuse(Status.MALFORMED, "the hello is of unknown kind " + kind);
    }
  }

  private void connect(int peerMaxSends, byte[] privateData) {
    ConnectionAcceptor.Accept accept = null;
    TcpQueuePair pair = null;
    try {
      accept = acceptor.onConnect(channel.remoteName(), privateData);
      transport.checkConfig(accept.config(), accept.privateData());
      pair = transport.newPair(channel, accept.config(), peerMaxSends, privateData);
    } catch (IOException e) {
      refuse(e);
    } catch (RuntimeException | Error e) {
      LOG.error("cannot accept {}", channel.remoteName(), e);
      refuse(Status.INTERNAL, "the server failed: " + e);
    }
    if (pair != null) {
      open(pair, accept);
    } else if (accept != null) {
      acceptor.onAborted(accept);
    }
  }

  private void open(TcpQueuePair pair, ConnectionAcceptor.Accept accept) {
    pair.onDisconnected(acceptor::onDisconnected);
    try {
      pair.keepClosed(
          TcpHandshake.answer(
              Layout.TCP_ACCEPTED, accept.config().maxSends(), accept.privateData()));
      acceptor.onConnected(pair, accept);
      pair.open();
    } catch (RuntimeException | Error e) {
      LOG.error("cannot take the connection of {}", channel.remoteName(), e);
      pair.breakOff("this side failed while the connection was made");
    }
  }

  private void refuse(Status status, String reason) {
    refuse(new TakoException(status, reason));
  }

  private void refuse(IOException reason) {
    last(Layout.TCP_REFUSED, TcpHandshake.text(Refusal.text(reason)));
  }

  private void last(int status, byte[] payload) {
    channel
        .writeAndFlush(Unpooled.wrappedBuffer(TcpHandshake.answer(status, 0, payload)))
        .addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public boolean wantsMore() {
    return false;
  }

  @Override
  public void readComplete() {}

  @Override
  public void closed(String reason) {
    answered = true;
  }
}
