package io.takofs.bench.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Keys of 30 bytes and values of 100, off the heap, found by open addressing. An entry of the log
 * is a key and its new value.
 *
 * <p>Thread rule: one thread.
 */
final class KeyValueTable {
  static final int KEY_SIZE = 30;
  static final int VALUE_SIZE = 100;
  static final int ENTRY_SIZE = KEY_SIZE + VALUE_SIZE;
  private static final int RECORD_SIZE = ENTRY_SIZE + Short.BYTES + Integer.BYTES; // aligned
  private static final int LOAD_FACTOR_INVERSE = 2;

  private static final long TAG = -1L << Integer.SIZE;

  private final MappedMemory memory;
  private final ByteBuffer records;
  private final long[] places; // high half of the key's hash, and number of the record + 1; or 0
  private int count;

  /** An empty table with room for {@code objects}. */
  KeyValueTable(int objects) throws TakoException {
    memory = MappedMemory.anonymous((long) objects * RECORD_SIZE, false);
    records = memory.slice(0, objects * RECORD_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    places = new long[Integer.highestOneBit(LOAD_FACTOR_INVERSE * objects - 1) << 1];
  }

  /** Mixes the bits of {@code number}. */
  static long scatter(long number) {
    long mixed = number * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }

  /** Writes the key of object {@code number} at {@code at}. */
  static void writeKey(ByteBuffer to, int at, int number) {
    long mixed = scatter(number);
    to.putLong(at, mixed);
    to.putLong(at + 8, ~mixed);
    to.putLong(at + 16, number);
    to.putInt(at + 24, number);
    to.putShort(at + 28, (short) number);
  }

  int count() {
    return count;
  }

  /** Copies the value of the key at {@code at} to {@code value}; returns whether there is one. */
  boolean get(ByteBuffer key, int at, ByteBuffer value) {
    int place = find(key, at, hash(key, at));
    if (places[place] == 0) {
      return false;
    }
    value.put(0, records, record(places[place]) + KEY_SIZE, VALUE_SIZE);
    return true;
  }

  /** Stores the value that follows the key at {@code at}. */
  void put(ByteBuffer entry, int at) {
    long hash = hash(entry, at);
    int place = find(entry, at, hash);
    if (places[place] == 0) {
      Invariant.check((count + 1) * RECORD_SIZE <= records.capacity(), "more objects than room");
      places[place] = (hash & TAG) | ++count;
      records.put(record(places[place]), entry, at, ENTRY_SIZE);
    } else {
      records.put(record(places[place]) + KEY_SIZE, entry, at + KEY_SIZE, VALUE_SIZE);
    }
  }

  private static int record(long place) {
    return ((int) place - 1) * RECORD_SIZE;
  }

  private static long hash(ByteBuffer key, int at) {
    return scatter(key.getLong(at) ^ key.getLong(at + 16) ^ key.getLong(at + 8) << 1);
  }

  /** The place of a key, or the empty one where it goes. */
  private int find(ByteBuffer key, int at, long hash) {
    int place = (int) hash & places.length - 1;
    while (places[place] != 0
        && ((places[place] & TAG) != (hash & TAG) || !isAt(record(places[place]), key, at))) {
      place = place + 1 & places.length - 1;
    }
    return place;
  }

  private boolean isAt(int record, ByteBuffer key, int at) {
    return records.getLong(record) == key.getLong(at)
        && records.getLong(record + 8) == key.getLong(at + 8)
        && records.getLong(record + 16) == key.getLong(at + 16)
        && records.getInt(record + 24) == key.getInt(at + 24)
        && records.getShort(record + 28) == key.getShort(at + 28);
  }
}
