package io.takofs.server.catalog;

import io.takofs.server.catalog.ConfigStore.Value;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The values of a catalog and what changes them: deterministic, for all stores. Time comes with
 * each change, and a value with a time to live is removed by a change only.
 *
 * <p>Thread rule: one thread at a time.
 */
final class CatalogState {
  private static final int FORMAT = 1;

  private final Map<String, Entry> entries = new TreeMap<>();
  private long lastVersion;
  private long timeMs; // of the last change: it never runs backwards

  private record Entry(long version, byte[] bytes, long ttlMs, long renewedMs) {}

  Value get(String key) {
    Entry entry = entries.get(key);
    return entry == null ? Value.NONE : new Value(entry.version, entry.bytes);
  }

  /**
   * Does what {@code command} says.
   *
   * @param nowMs the proposer's clock
   * @return the version of the key afterwards, {@link ConfigStore#LOST} when another than the
   *     expected one was found
   */
  long apply(CatalogCommand command, long nowMs) {
    timeMs = Math.max(timeMs, nowMs);
    Entry entry = entries.get(command.key());
    long version = entry == null ? ConfigStore.ABSENT : entry.version;
    if (version != command.version()) {
      return ConfigStore.LOST;
    }
    switch (command.kind()) {
      case SET -> {
        lastVersion++;
        Entry set = new Entry(lastVersion, command.bytes(), command.ttlMs(), timeMs);
        entries.put(command.key(), set);
        return lastVersion;
      }
      case RENEW -> {
        if (entry == null) {
          return ConfigStore.LOST;
        }
        entries.put(command.key(), new Entry(version, entry.bytes, entry.ttlMs, timeMs));
        return version;
      }
      case REMOVE -> entries.remove(command.key());
      case EXPIRE -> {
        // The proposer may not have known of a renewal.
        if (entry == null || !isOver(entry, nowMs)) {
          return ConfigStore.LOST;
        }
        entries.remove(command.key());
      }
    }
    return ConfigStore.ABSENT;
  }

  private static boolean isOver(Entry entry, long nowMs) {
    return entry.ttlMs > 0 && nowMs - entry.renewedMs >= entry.ttlMs;
  }

  /** The changes that remove what was not renewed in time, as of {@code nowMs}. */
  List<CatalogCommand> expired(long nowMs) {
    List<CatalogCommand> expired = new ArrayList<>();
    entries.forEach(
        (key, entry) -> {
          if (isOver(entry, nowMs)) {
            expired.add(CatalogCommand.of(CatalogCommand.Kind.EXPIRE, key, entry.version));
          }
        });
    return expired;
  }

  /** All of it. */
  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(FORMAT);
      out.writeLong(lastVersion);
      out.writeLong(timeMs);
      out.writeInt(entries.size());
      for (Map.Entry<String, Entry> each : entries.entrySet()) {
        Entry entry = each.getValue();
        out.writeUTF(each.getKey());
        out.writeLong(entry.version);
        out.writeLong(entry.ttlMs);
        out.writeLong(entry.renewedMs);
        out.writeInt(entry.bytes.length);
        out.write(entry.bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("memory can be written", e);
    }
    return bytes.toByteArray();
  }

  /**
   * The state that {@link #encode} wrote.
   *
   * @throws IOException when it is something else
   */
  static CatalogState decode(byte[] encoded) throws IOException {
    CatalogState state = new CatalogState();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(encoded))) {
      int format = in.readInt();
      if (format != FORMAT) {
        throw new IOException("format " + format + " instead of " + FORMAT);
      }
      state.lastVersion = in.readLong();
      state.timeMs = in.readLong();
      for (int left = in.readInt(); left > 0; left--) {
        String key = in.readUTF();
        long version = in.readLong();
        long ttlMs = in.readLong();
        long renewedMs = in.readLong();
        byte[] bytes = in.readNBytes(in.readInt());
        state.entries.put(key, new Entry(version, bytes, ttlMs, renewedMs));
      }
    }
    return state;
  }
}
