package io.takofs.transport.tcp;

import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** The first bytes of a connection, {@code TCP_HELLO} and {@code TCP_ANSWER} of layout.def. */
final class TcpHandshake {
  private static final int SHOWN = 24;

  private TcpHandshake() {}

  static ByteBuffer hello(int kind, int maxSends, byte[] privateData) {
    ByteBuffer hello = newBuffer(Layout.TCP_HELLO_SIZE);
    hello.putInt(Layout.TCP_HELLO_MAGIC_OFFSET, Layout.TCP_MAGIC);
    hello.putInt(Layout.TCP_HELLO_PROTOCOL_VERSION_OFFSET, Layout.PROTOCOL_VERSION);
    hello.putInt(Layout.TCP_HELLO_KIND_OFFSET, kind);
    hello.putInt(Layout.TCP_HELLO_MAX_SENDS_OFFSET, maxSends);
    hello.putInt(Layout.TCP_HELLO_LENGTH_OFFSET, privateData.length);
    hello.put(Layout.TCP_HELLO_PRIVATE_DATA_OFFSET, privateData);
    return hello;
  }

  static ByteBuffer answer(int status, int maxSends, byte[] payload) {
    ByteBuffer answer = newBuffer(Layout.TCP_ANSWER_SIZE + payload.length);
    answer.putInt(Layout.TCP_ANSWER_MAGIC_OFFSET, Layout.TCP_MAGIC);
    answer.putInt(Layout.TCP_ANSWER_PROTOCOL_VERSION_OFFSET, Layout.PROTOCOL_VERSION);
    answer.putInt(Layout.TCP_ANSWER_STATUS_OFFSET, status);
    answer.putInt(Layout.TCP_ANSWER_MAX_SENDS_OFFSET, maxSends);
    answer.putInt(Layout.TCP_ANSWER_LENGTH_OFFSET, payload.length);
    answer.put(Layout.TCP_ANSWER_SIZE, payload);
    return answer;
  }

  static ByteBuffer newBuffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Reads no byte more than {@code bytes} has room for, because what follows is not ours. */
  static int read(SocketChannel socket, ByteBuffer bytes) throws IOException {
    return socket.read(bytes);
  }

  /** The first bytes that someone sent, for a message: printable ones as they are. */
  static String shown(ByteBuffer bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(bytes.position(), SHOWN); i++) {
      char c = (char) (bytes.get(i) & 0xff);
      text.append(c >= ' ' && c < 0x7f ? c : '.');
    }
    return text.toString();
  }

  /** Text for a payload, cut to what an answer may carry. */
  static byte[] text(String message) {
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= Layout.TCP_ANSWER_MAX
        ? bytes
        : java.util.Arrays.copyOf(bytes, Layout.TCP_ANSWER_MAX);
  }
}
