package io.takofs.transport.tcp;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.transport.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * Waits for the answer to a hello. Any other message is not Tako's, and the error says so.
 *
 * <p>Thread rule: the event loop.
 *
 * @param <T> what the payload of a good answer becomes
 */
final class TcpClientHandshake<T> implements TcpInput {
  /** Makes something of a good answer; runs before anything after the answer is read. */
  interface Answer<T> {
    T take(int maxSends, byte[] payload) throws IOException;
  }

  private final String endpoint;
  private final int wantedStatus;
  private final Answer<T> onAnswer;
  private final CompletableFuture<T> result;
  private final ByteBuffer head = TcpHandshake.newBuffer(Layout.TCP_ANSWER_SIZE);
  private ByteBuffer payload;

  TcpClientHandshake(
      String endpoint, int wantedStatus, Answer<T> onAnswer, CompletableFuture<T> result) {
    this.endpoint = endpoint;
    this.wantedStatus = wantedStatus;
    this.onAnswer = onAnswer;
    this.result = result;
  }

  @Override
  public int read(SocketChannel socket) throws IOException {
    if (result.isDone()) {
      return -1;
    }
    int count = TcpHandshake.read(socket, payload == null ? head : payload);
    if (count > 0) {
      try {
        parse();
      } catch (IOException e) {
        result.completeExceptionally(e);
        return -1;
      }
    }
    return count;
  }

  private void parse() throws IOException {
    if (head.position() >= Integer.BYTES
        && head.getInt(Layout.TCP_ANSWER_MAGIC_OFFSET) != Layout.TCP_MAGIC) {
      throw new IOException(
          endpoint
              + " does not speak Tako's protocol (it answered '"
              + TcpHandshake.shown(head)
              + "'): check host and port");
    }
    if (head.hasRemaining()) {
      return;
    }
    int status = head.getInt(Layout.TCP_ANSWER_STATUS_OFFSET);
    int maxSends = head.getInt(Layout.TCP_ANSWER_MAX_SENDS_OFFSET);
    if (payload == null) {
      int length = head.getInt(Layout.TCP_ANSWER_LENGTH_OFFSET);
      if (length < 0
          || length > Layout.TCP_ANSWER_MAX
          || maxSends < 0
          || maxSends > TcpTransport.MAX_SENDS) {
        throw new IOException(endpoint + " sent a malformed answer");
      }
      payload = TcpHandshake.newBuffer(length);
    }
    if (payload.hasRemaining()) {
      return;
    }
    byte[] bytes = new byte[payload.capacity()];
    payload.get(0, bytes);
    int version = head.getInt(Layout.TCP_ANSWER_PROTOCOL_VERSION_OFFSET);
    if (version != Layout.PROTOCOL_VERSION) {
      throw new TakoException(
          Status.VERSION_MISMATCH,
          endpoint
              + " speaks version "
              + version
              + " of Tako's protocol, this side version "
              + Layout.PROTOCOL_VERSION
              + ": use the same release on both");
    }
    if (status == Layout.TCP_REFUSED) {
      throw Refusal.exception(endpoint, new String(bytes, StandardCharsets.UTF_8));
    }
    if (status != wantedStatus) {
      throw new IOException(endpoint + " sent an answer of unknown status " + status);
    }
    result.complete(onAnswer.take(maxSends, bytes));
  }

  @Override
  public boolean wantsMore() {
    return !result.isDone();
  }

  @Override
  public void readComplete() {}

  @Override
  public void closed(String reason) {
    result.completeExceptionally(
        new IOException(
            endpoint
                + " closed the connection before it answered: not a Tako server, or one that is"
                + " stopping ("
                + reason
                + ")"));
  }
}
