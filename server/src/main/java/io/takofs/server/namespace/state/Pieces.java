package io.takofs.server.namespace.state;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * Values that may be longer than a record: in as many records as they need, whose keys end with
 * their number. A record is: whether another follows u8, bytes.
 */
final class Pieces {
  /** Bytes of a value in one record. */
  static final int PIECE_MAX = 2048;

  private Pieces() {}

  /** The value of {@code key}, or null. */
  static byte[] get(OrderedMap map, byte[] key) {
    byte[] record = map.get(key(key, 0));
    if (record == null) {
      return null;
    }
    ByteArrayOutputStream value = new ByteArrayOutputStream(record.length);
    for (int piece = 1; ; piece++) {
      value.writeBytes(Arrays.copyOfRange(record, 1, record.length));
      if (isLast(record)) {
        return value.toByteArray();
      }
      record = map.get(key(key, piece));
    }
  }

  /** Whether a record is the last of its value. */
  static boolean isLast(byte[] record) {
    return record[0] == 0;
  }

  /** Adds or replaces. */
  static void put(Transaction tx, OrderedMap map, byte[] key, byte[] value) {
    int before = count(map, key);
    int pieces = Math.max(1, (value.length + PIECE_MAX - 1) / PIECE_MAX);
    for (int piece = 0; piece < pieces; piece++) {
      int from = piece * PIECE_MAX;
      byte[] part = Arrays.copyOfRange(value, from, Math.min(value.length, from + PIECE_MAX));
      tx.put(
          map,
          key(key, piece),
          new ByteWriter(1 + part.length).u8(piece + 1 < pieces ? 1 : 0).raw(part).toBytes());
    }
    removeFrom(tx, map, key, pieces, before);
  }

  /** Removes what is there. */
  static void remove(Transaction tx, OrderedMap map, byte[] key) {
    removeFrom(tx, map, key, 0, count(map, key));
  }

  private static void removeFrom(Transaction tx, OrderedMap map, byte[] key, int from, int count) {
    for (int piece = from; piece < count; piece++) {
      tx.remove(map, key(key, piece));
    }
  }

  private static int count(OrderedMap map, byte[] key) {
    int count = 0;
    while (true) {
      byte[] record = map.get(key(key, count));
      if (record == null) {
        return count;
      }
      count++;
      if (isLast(record)) {
        return count;
      }
    }
  }

  private static byte[] key(byte[] key, int piece) {
    return new ByteWriter(key.length + 1).raw(key).u8(piece).toBytes();
  }

  /** The number at the end of a record's key. */
  static int piece(byte[] recordKey) {
    return new ByteReader(recordKey, recordKey.length - 1).u8();
  }
}
