package io.takofs.client.internal.file;

import io.takofs.client.internal.zone.Place;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes that were written to extents and may have come to no server: they stay here until they are
 * written to another extent. They are as many as sinks have under way, and one write more.
 *
 * <p>Thread rule: one thread at a time.
 */
final class KeptBytes {
  /** Bytes at {@code offset} within the extent that has a replica at {@code place}. */
  private record Piece(Place place, int offset, byte[] bytes) {}

  private final List<Piece> pieces = new ArrayList<>();

  /** Keeps the remaining bytes of {@code source}, which are copied. */
  void add(Place place, int offset, ByteBuffer source) {
    byte[] bytes = new byte[source.remaining()];
    source.get(source.position(), bytes);
    pieces.add(new Piece(place, offset, bytes));
  }

  /** Keeps what {@code others} keeps. */
  void addAll(KeptBytes others) {
    pieces.addAll(others.pieces);
  }

  /** Whether all bytes from {@code offset} to {@code end} of an extent are kept. */
  boolean hasAll(List<Place> places, int offset, int end) {
    int at = offset;
    for (int before = -1; at < end && before < at; ) {
      before = at;
      for (Piece piece : pieces) {
        if (piece.offset <= at && places.contains(piece.place)) {
          at = Math.max(at, piece.offset + piece.bytes.length);
        }
      }
    }
    return at >= end;
  }

  /**
   * Puts what is kept of an extent over what a server gave.
   *
   * @param places of the extent
   * @param offset within the extent of the first byte of {@code target}
   */
  void putInto(List<Place> places, int offset, ByteBuffer target) {
    int end = offset + target.limit();
    for (Piece piece : pieces) {
      int from = Math.max(offset, piece.offset);
      int to = Math.min(end, piece.offset + piece.bytes.length);
      if (from < to && places.contains(piece.place)) {
        target.put(from - offset, piece.bytes, from - piece.offset, to - from);
      }
    }
  }

  /** Forgets an extent that was moved: other bytes may be granted its place from now on. */
  void remove(List<Place> places) {
    pieces.removeIf(piece -> places.contains(piece.place));
  }

  void clear() {
    pieces.clear();
  }
}
