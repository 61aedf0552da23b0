package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The message that each side sends the other over the control socket, once: the request and its
 * acceptance have the same form. A refusal has a reason and nothing else.
 *
 * @param refusal why there will be no connection; empty in a request or an acceptance
 * @param pid of the sender, for messages
 * @param domainDirectory where the sender's table of keys and its regions are
 * @param doorbell file of the completion queue where the sender receives
 * @param inbox file of the sender's inbox
 * @param slot bit of the sender's queue pair in its doorbell
 * @param receives entries of the sender's inbox, a power of two
 * @param privateData for the upper layer
 */
record Offer(
    String refusal,
    long pid,
    String domainDirectory,
    String doorbell,
    String inbox,
    int slot,
    int receives,
    byte[] privateData) {
  /** Bytes of an encoded offer at most, with its length. */
  static final int SIZE_MAX = 32768;

  private static final int TEXT_MAX = 4096;

  /** Bytes of a path at most: the system's limit, less the name of a file below it. */
  private static final int PATH_MAX = 4096 - 256;

  static Offer refusal(String reason) {
    return new Offer(reason, ProcessHandle.current().pid(), "", "", "", 0, 1, new byte[0]);
  }

  boolean isRefusal() {
    return !refusal.isEmpty();
  }

  /** Length and content, ready to be written. */
  ByteBuffer encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(0); // the length, set below
      out.writeInt(Layout.SHM_MAGIC);
      out.writeLong(Layout.LAYOUT_HASH);
      out.writeLong(pid);
      writeText(out, refusal);
      writeText(out, domainDirectory);
      writeText(out, doorbell);
      writeText(out, inbox);
      out.writeInt(slot);
      out.writeInt(receives);
      out.writeByte(privateData.length);
      out.write(privateData);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ByteBuffer encoded = ByteBuffer.wrap(bytes.toByteArray());
    return encoded.putInt(0, encoded.capacity() - Integer.BYTES);
  }

  private static void writeText(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, TEXT_MAX);
    out.writeShort(length);
    out.write(bytes, 0, length);
  }

  /**
   * Decodes what followed the length.
   *
   * @throws TakoException VERSION_MISMATCH or MALFORMED, saying what is wrong
   */
  static Offer decode(byte[] content) throws TakoException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      if (in.readInt() != Layout.SHM_MAGIC) {
        throw new TakoException(Status.MALFORMED, "the peer does not speak Tako's shm protocol");
      }
      long hash = in.readLong();
      if (hash != Layout.LAYOUT_HASH) {
        throw new TakoException(
            Status.VERSION_MISMATCH,
            String.format(
                "the peer's memory layout is %016x, ours is %016x: use the same release on both"
                    + " sides",
                hash, Layout.LAYOUT_HASH));
      }
      return checked(readFields(in));
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(Status.MALFORMED, "the peer's handshake is cut short", e);
    }
  }

  private static Offer readFields(DataInputStream in) throws IOException {
    long pid = in.readLong();
    String refusal = readText(in);
    String domainDirectory = readText(in);
    String doorbell = readText(in);
    String inbox = readText(in);
    int slot = in.readInt();
    int receives = in.readInt();
    byte[] privateData = new byte[in.readUnsignedByte()];
    in.readFully(privateData);
    return new Offer(refusal, pid, domainDirectory, doorbell, inbox, slot, receives, privateData);
  }

  private static String readText(DataInputStream in) throws IOException {
    byte[] bytes = new byte[in.readUnsignedShort()];
    in.readFully(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static Offer checked(Offer offer) throws TakoException {
    boolean good =
        offer.slot >= 0
            && offer.slot < Layout.SHM_QUEUE_PAIRS
            && offer.receives > 0
            && offer.receives <= Layout.SHM_QUEUE_DEPTH_MAX
            && Integer.bitCount(offer.receives) == 1
            && offer.privateData.length <= Layout.SHM_PRIVATE_DATA_MAX
            && isPath(offer.domainDirectory)
            && isPath(offer.doorbell)
            && isPath(offer.inbox);
    if (!good) {
      throw new TakoException(Status.MALFORMED, "the peer's handshake has impossible values");
    }
    return offer;
  }

  /** Measured as it will be used: bytes that are no UTF-8 have grown. */
  private static boolean isPath(String text) {
    return text.indexOf('\0') < 0 && text.getBytes(StandardCharsets.UTF_8).length <= PATH_MAX;
  }
}
