package io.takofs.transport;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Counters of one transport of this process, for people and tests. Memory that {@link
 * QueuePair#map} shows is loaded and stored without a post, so what goes that way is not counted.
 *
 * <p>Thread rule: any thread. Counting takes no lock and allocates nothing; transports count a
 * doorbell and a batch of completions at once, not each operation. Values that belong together may
 * be read while one of them is a little ahead.
 */
public final class TransportCounters {
  /** The counted events, beside completions. */
  public enum Counter {
    /** Operations handed to the transport by {@link QueuePair#ring}. */
    SENDS,
    /** Times that staged work was handed over. */
    DOORBELLS,
    /** Local bytes of those operations. */
    BYTES,
    /** Receives posted. */
    RECEIVES,
    /** Connections made, whichever side began. */
    CONNECTS,
    /** Connections that a client made again after one broke; none at a server. */
    RECONNECTS,
    /** Queue pairs that are open now. */
    QUEUE_PAIRS,
    /** Memory regions that are registered now. */
    REGIONS,
    /** Memory windows that are allocated now. */
    WINDOWS
  }

  private final Map<Counter, LongAdder> values = adders(Counter.class);
  private final Map<CompletionStatus, LongAdder> completions = adders(CompletionStatus.class);
  private final Supplier<Map<String, Long>> device;

  /** Counters of a transport without a device. */
  public TransportCounters() {
    this(Map::of);
  }

  /**
   * Counters with those of a device.
   *
   * @param device what the device counts itself, by name; asked for each snapshot
   */
  public TransportCounters(Supplier<Map<String, Long>> device) {
    this.device = device;
  }

  private static <K extends Enum<K>> Map<K, LongAdder> adders(Class<K> keys) {
    Map<K, LongAdder> adders = new EnumMap<>(keys);
    for (K key : keys.getEnumConstants()) {
      adders.put(key, new LongAdder());
    }
    return adders;
  }

  /** Counts {@code amount} more, or less. */
  public void add(Counter counter, long amount) {
    values.get(counter).add(amount);
  }

  /** Counts {@code count} completions as they are polled. */
  public void addCompletions(CompletionStatus status, long count) {
    completions.get(status).add(count);
  }

  public long get(Counter counter) {
    return values.get(counter).sum();
  }

  /** Completions polled with that status. */
  public long completions(CompletionStatus status) {
    return completions.get(status).sum();
  }

  /**
   * All of them by name: {@code sends}, {@code completions.success}, {@code device.} and the
   * device's own name.
   */
  public Map<String, Long> snapshot() {
    Map<String, Long> snapshot = new TreeMap<>();
    values.forEach((counter, value) -> snapshot.put(name(counter), value.sum()));
    completions.forEach(
        (status, value) -> snapshot.put("completions." + name(status), value.sum()));
    device.get().forEach((name, value) -> snapshot.put("device." + name, value));
    return snapshot;
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
