package io.takofs.rpc;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** Writes a message into its slot: the header, then the protobuf payload. */
final class RpcMessage {
  private RpcMessage() {}

  /** Bytes of the message that carries {@code payload}, header included. */
  static int size(MessageLite payload) {
    return Layout.RPC_HEADER_SIZE + payload.getSerializedSize();
  }

  /** Writes the message at the start of {@code slot} and returns its size; it must fit. */
  static int encode(
      ByteBuffer slot, long clientId, long sequence, long epoch, MessageLite payload) {
    int size = size(payload);
    Invariant.check(size <= slot.capacity(), "a message that does not fit its slot");
    int length = size - Layout.RPC_HEADER_SIZE;
    CodedOutputStream output =
        CodedOutputStream.newInstance(slot.slice(Layout.RPC_HEADER_SIZE, length));
    try {
      payload.writeTo(output);
      output.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer of the computed size was too small", e);
    }
    new RpcHeader().wrap(slot).seal(length, clientId, sequence, epoch);
    return size;
  }
}
