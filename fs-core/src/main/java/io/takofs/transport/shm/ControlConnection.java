package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.attribute.UserPrincipal;
import java.util.Optional;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control socket of one connection: one {@link Offer} each way, then silence until its end.
 *
 * <p>Thread rule: send and receive by one thread at a time; close by any.
 */
final class ControlConnection {
  private static final Logger LOG = LoggerFactory.getLogger(ControlConnection.class);

  private final SocketChannel channel;
  private final UserPrincipal peerUser;
  private final ByteBuffer incoming = ByteBuffer.allocate(Offer.SIZE_MAX);

  ControlConnection(SocketChannel channel) throws IOException {
    this.channel = channel;
    this.peerUser = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
    channel.configureBlocking(false);
  }

  SocketChannel channel() {
    return channel;
  }

  /** The user the peer runs as; the kernel says so. */
  UserPrincipal peerUser() {
    return peerUser;
  }

  /** Sends an offer, which the buffer of a new socket always has room for. */
  void send(Offer offer) throws IOException {
    ByteBuffer encoded = offer.encode();
    channel.write(encoded);
    if (encoded.hasRemaining()) {
      throw new IOException("the control socket takes no " + encoded.capacity() + " bytes");
    }
  }

  /**
   * The peer's offer, or empty while it is not all there.
   *
   * @throws EOFException when the socket ended instead
   * @throws TakoException when what came is not an offer we can use
   */
  Optional<Offer> receive() throws IOException {
    if (channel.read(incoming) < 0) {
      throw new EOFException("the peer closed the control socket");
    }
    if (incoming.position() < Integer.BYTES) {
      return Optional.empty();
    }
    int length = incoming.getInt(0);
    if (length <= 0 || length > Offer.SIZE_MAX - Integer.BYTES) {
      throw new TakoException(Status.MALFORMED, "the peer does not speak Tako's shm protocol");
    }
    if (incoming.position() < Integer.BYTES + length) {
      return Optional.empty();
    }
    byte[] content = new byte[length];
    incoming.get(Integer.BYTES, content);
    return Optional.of(Offer.decode(content));
  }

  /** Whether the socket is still open and silent, as it must be after the handshake. */
  boolean isQuiet() {
    try {
      incoming.clear();
      return channel.read(incoming) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  void close() {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("closing a control socket", e);
    }
  }
}
