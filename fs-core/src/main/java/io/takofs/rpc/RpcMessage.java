package io.takofs.rpc;

import com.google.protobuf.MessageLite;
import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.proto.Request;
import java.nio.ByteBuffer;

/** Writes a message into its slot: the header, then the protobuf payload. */
final class RpcMessage {
  private RpcMessage() {}

  /** Bytes of the message that carries {@code payload}, header included. */
  static int size(MessageLite payload) {
    return Layout.RPC_HEADER_SIZE + payload.getSerializedSize();
  }

  /** The operation that {@code request} asks for, as messages and logs name it. */
  static String operation(Request request) {
    return request.getOperationCase().name();
  }

  /** Writes the message at the start of {@code slot} and returns its size; it must fit. */
  static int encode(
      ByteBuffer slot, long clientId, long sequence, long epoch, MessageLite payload) {
    int size = size(payload);
    Invariant.check(size <= slot.capacity(), "a message that does not fit its slot");
    int length = size - Layout.RPC_HEADER_SIZE;
    // Protocol Buffers is several times faster on arrays than on direct buffers.
    slot.put(Layout.RPC_HEADER_SIZE, payload.toByteArray());
    new RpcHeader().wrap(slot).seal(length, clientId, sequence, epoch);
    return size;
  }
}
