package io.takofs.rpc;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The record that each side of a connection sends the other while it is made: the private data of
 * the connection request and of its acceptance, 56 bytes.
 *
 * @param protocolVersion of the sender
 * @param kind one of {@link Layout}'s, as {@link Layout#CONNECTION_RPC}
 * @param layoutHash of the sender
 * @param clientId session the connection belongs to, 0 for none yet
 * @param epoch incarnation of the server, 0 from a client
 * @param address of the sender's slots, 0 for DATA
 * @param rkey of the sender's slots, 0 for DATA
 */
public record ConnectionInfo(
    int protocolVersion,
    int kind,
    long layoutHash,
    long clientId,
    long epoch,
    long address,
    int rkey) {

  /** The message that describes this program's side. */
  public static ConnectionInfo ours(int kind, long clientId, long epoch, long address, int rkey) {
    return new ConnectionInfo(
        Layout.PROTOCOL_VERSION, kind, Layout.LAYOUT_HASH, clientId, epoch, address, rkey);
  }

  /** As private data. */
  public byte[] pack() {
    ByteBuffer data = ByteBuffer.allocate(Layout.CONNECTION_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    data.putInt(Layout.CONNECTION_PROTOCOL_VERSION_OFFSET, protocolVersion);
    data.putInt(Layout.CONNECTION_KIND_OFFSET, kind);
    data.putLong(Layout.CONNECTION_LAYOUT_HASH_OFFSET, layoutHash);
    data.putLong(Layout.CONNECTION_CLIENT_ID_OFFSET, clientId);
    data.putLong(Layout.CONNECTION_EPOCH_OFFSET, epoch);
    data.putLong(Layout.CONNECTION_ADDRESS_OFFSET, address);
    data.putInt(Layout.CONNECTION_RKEY_OFFSET, rkey);
    return data.array();
  }

  /**
   * Reads private data.
   *
   * @param sender who sent it, for the error's text
   * @throws TakoException with status VERSION_MISMATCH when the sender's protocol or layout is not
   *     ours, MALFORMED when it is no connection record at all
   */
  public static ConnectionInfo unpack(byte[] privateData, String sender) throws TakoException {
    if (privateData.length < Layout.CONNECTION_SIZE) {
      throw new TakoException(
          Status.MALFORMED,
          sender
              + " sent "
              + privateData.length
              + " bytes of connection data where "
              + Layout.CONNECTION_SIZE
              + " are due: it does not speak Tako's protocol");
    }
    ByteBuffer data = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
    ConnectionInfo info =
        new ConnectionInfo(
            data.getInt(Layout.CONNECTION_PROTOCOL_VERSION_OFFSET),
            data.getInt(Layout.CONNECTION_KIND_OFFSET),
            data.getLong(Layout.CONNECTION_LAYOUT_HASH_OFFSET),
            data.getLong(Layout.CONNECTION_CLIENT_ID_OFFSET),
            data.getLong(Layout.CONNECTION_EPOCH_OFFSET),
            data.getLong(Layout.CONNECTION_ADDRESS_OFFSET),
            data.getInt(Layout.CONNECTION_RKEY_OFFSET));
    if (info.protocolVersion != Layout.PROTOCOL_VERSION || info.layoutHash != Layout.LAYOUT_HASH) {
      throw new TakoException(
          Status.VERSION_MISMATCH,
          String.format(
              "%s speaks protocol %d with layout %016x, this side speaks protocol %d with layout"
                  + " %016x; run the same version of Tako on both",
              sender,
              info.protocolVersion,
              info.layoutHash,
              Layout.PROTOCOL_VERSION,
              Layout.LAYOUT_HASH));
    }
    return info;
  }
}
