package io.takofs.server.namespace.state;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.extent.SlabRange;

/**
 * A committed extent of a file. Its record is: flags u8 (1 sealed), slab, offset and capacity in
 * units, generation, length, two CRC u32; of a sealed one the late writer u64. About 20 bytes.
 *
 * @param fileOffset position in the file of its first byte
 * @param generation of the grant under which it was written first
 * @param length bytes that belong to the file
 * @param sealed nothing may be written after its length any more: another client might still, or
 *     bytes there were committed once
 * @param lateWriter of a sealed one: the client that might still write after its length, or 0
 */
public record FileExtent(
    long fileOffset,
    SlabRange range,
    long generation,
    int length,
    int checksumsCrc,
    int tailCrc,
    boolean sealed,
    long lateWriter) {
  private static final int SEALED = 1;

  public static FileExtent of(Extent extent) {
    return new FileExtent(
        extent.getFileOffset(),
        SlabRange.of(extent),
        extent.getGeneration(),
        extent.getLength(),
        extent.getChecksumsCrc(),
        extent.getTailCrc(),
        false,
        0);
  }

  public static FileExtent decode(long fileOffset, byte[] value) {
    ByteReader in = new ByteReader(value);
    boolean sealed = (in.u8() & SEALED) != 0;
    SlabRange range =
        new SlabRange(
            in.variable(),
            (int) in.variable() * Layout.UNIT_SIZE,
            (int) in.variable() * Layout.UNIT_SIZE);
    return new FileExtent(
        fileOffset,
        range,
        in.variable(),
        (int) in.variable(),
        in.u32(),
        in.u32(),
        sealed,
        sealed ? in.u64() : 0);
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(32)
            .u8(sealed ? SEALED : 0)
            .variable(range.slab())
            .variable(range.unit())
            .variable(range.capacity() / Layout.UNIT_SIZE)
            .variable(generation)
            .variable(length)
            .u32(checksumsCrc)
            .u32(tailCrc);
    return (sealed ? out.u64(lateWriter) : out).toBytes();
  }

  /** First byte of the file that is not in it. */
  public long end() {
    return fileOffset + length;
  }

  /** Whether bytes can be added after its length. */
  public boolean canGrow() {
    return !sealed && length < range.capacity();
  }

  /** The same with nothing to be added any more. */
  public FileExtent seal(long writer) {
    return new FileExtent(
        fileOffset, range, generation, length, checksumsCrc, tailCrc, true, writer);
  }

  /** The same at another place of a file. */
  public FileExtent movedTo(long offset) {
    return new FileExtent(
        offset, range, generation, length, checksumsCrc, tailCrc, sealed, lateWriter);
  }

  /** The extent for a message to others than its writer. */
  public Extent toProto() {
    return range
        .toProto()
        .setGeneration(generation)
        .setFileOffset(fileOffset)
        .setLength(length)
        .setChecksumsCrc(checksumsCrc)
        .setTailCrc(tailCrc)
        .build();
  }

  /** The extent for a message to its writer, who goes on in it under {@code grant}. */
  public Extent toProto(long grant) {
    return toProto().toBuilder().setGrant(grant).build();
  }
}
