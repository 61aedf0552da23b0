package io.takofs.rpc;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Flyweight over the 32-byte header at the start of a little-endian buffer that holds one message.
 *
 * <p>Thread rule: one thread.
 */
final class RpcHeader {
  private ByteBuffer message;

  /** Looks at {@code message} from now on, which must be little-endian. */
  RpcHeader wrap(ByteBuffer message) {
    this.message = message.order(ByteOrder.LITTLE_ENDIAN);
    return this;
  }

  int length() {
    return message.getInt(Layout.RPC_HEADER_LENGTH_OFFSET);
  }

  long clientId() {
    return message.getLong(Layout.RPC_HEADER_CLIENT_ID_OFFSET);
  }

  long sequence() {
    return message.getLong(Layout.RPC_HEADER_SEQUENCE_OFFSET);
  }

  long epoch() {
    return message.getLong(Layout.RPC_HEADER_EPOCH_OFFSET);
  }

  /** Writes all fields; the payload of {@code length} bytes already follows the header. */
  void seal(int length, long clientId, long sequence, long epoch) {
    message.putInt(Layout.RPC_HEADER_LENGTH_OFFSET, length);
    message.putLong(Layout.RPC_HEADER_CLIENT_ID_OFFSET, clientId);
    message.putLong(Layout.RPC_HEADER_SEQUENCE_OFFSET, sequence);
    message.putLong(Layout.RPC_HEADER_EPOCH_OFFSET, epoch);
    message.putInt(Layout.RPC_HEADER_CRC32C_OFFSET, crc(length));
  }

  /**
   * Describes the defect of a message of {@code byteCount} bytes, or returns null for a valid one.
   */
  String fault(int byteCount) {
    if (length() != byteCount - Layout.RPC_HEADER_SIZE) {
      return "header says " + length() + " bytes of payload, " + byteCount + " bytes came";
    }
    if (message.getInt(Layout.RPC_HEADER_CRC32C_OFFSET) != crc(length())) {
      return "wrong CRC32C";
    }
    return null;
  }

  private int crc(int length) {
    CRC32C crc = new CRC32C();
    crc.update(
        message.slice(
            Layout.RPC_HEADER_CLIENT_ID_OFFSET,
            Layout.RPC_HEADER_SIZE - Layout.RPC_HEADER_CLIENT_ID_OFFSET + length));
    return (int) crc.getValue();
  }
}
