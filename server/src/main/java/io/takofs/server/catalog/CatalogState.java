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
public final class CatalogState {
  private static final int FORMAT = 1;

  /** More versions than a catalog gives after a copy of it was made. */
  private static final long VERSIONS_SINCE_COPY = 1L << 40;

  private final Map<String, Entry> entries = new TreeMap<>();
  private long lastVersion;
  private long timeMs; // of the last change: it never runs backwards

  private record Entry(long version, byte[] bytes, long ttlMs, long renewedMs) {}

  /** A state of values that stay. */
  public static CatalogState of(Map<String, Value> values) {
    CatalogState state = new CatalogState();
    values.forEach(
        (key, value) -> {
          state.entries.put(key, new Entry(value.version(), value.bytes(), 0, 0));
          state.lastVersion = Math.max(state.lastVersion, value.version());
        });
    return state;
  }

  /** The value of {@code key} as of the last change. */
  public Value get(String key) {
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
  public long apply(CatalogCommand command, long nowMs) {
    timeMs = Math.max(timeMs, nowMs);
    if (command.kind() == CatalogCommand.Kind.RESTORE) {
      return restore(command.bytes());
    }
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
      case RESTORE -> throw new IllegalStateException("has no key");
    }
    return ConfigStore.ABSENT;
  }

  /**
   * Takes the values of a copy, under versions that the lost catalog has not given since. Leases
   * are left out: who held one takes it again.
   */
  private long restore(byte[] copy) {
    if (!entries.isEmpty()) {
      return ConfigStore.LOST;
    }
    CatalogState lost;
    try {
      lost = decode(copy);
    } catch (IOException e) {
      return ConfigStore.LOST; // on every peer alike; the command has looked before
    }
    lastVersion = Math.max(lastVersion, lost.lastVersion) + VERSIONS_SINCE_COPY;
    lost.entries.forEach(
        (key, entry) -> {
          if (entry.ttlMs == 0) {
            lastVersion++;
            entries.put(key, new Entry(lastVersion, entry.bytes, 0, timeMs));
          }
        });
    return lastVersion;
  }

  /** All values as of the last change. */
  public Map<String, Value> values() {
    Map<String, Value> values = new TreeMap<>();
    entries.forEach((key, entry) -> values.put(key, new Value(entry.version, entry.bytes)));
    return values;
  }

  private static boolean isOver(Entry entry, long nowMs) {
    return entry.ttlMs > 0 && nowMs - entry.renewedMs >= entry.ttlMs;
  }

  /** The changes that remove what was not renewed in time, as of {@code nowMs}. */
  public List<CatalogCommand> expired(long nowMs) {
    List<CatalogCommand> expired = new ArrayList<>();
    entries.forEach(
        (key, entry) -> {
          if (isOver(entry, nowMs)) {
            expired.add(CatalogCommand.of(CatalogCommand.Kind.EXPIRE, key, entry.version));
          }
        });
    return expired;
  }

  /** Whether {@code other} has the same keys in the same versions. */
  boolean hasValuesOf(CatalogState other) {
    return entries.keySet().equals(other.entries.keySet())
        && entries.keySet().stream()
            .allMatch(key -> get(key).version() == other.get(key).version());
  }

  /** All of it. */
  public byte[] encode() {
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
  public static CatalogState decode(byte[] encoded) throws IOException {
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
