package io.takofs.jni;

import java.util.Optional;

/**
 * The data path of the verbs transport, function for function; {@code native/include/tako/verbs.h}
 * says what each does. Addresses and handles are longs, results are at least 0 or a negated errno.
 *
 * <p>Only {@code io.takofs.transport.verbs} calls them, and only when {@link #unavailabilityCause}
 * is empty. Blocks are memory that the caller keeps mapped.
 */
public final class VerbsCore {
  /** Result of {@link #post}: an operation must not be tried, and the pair went into error. */
  public static final int POST_REFUSED = 1;

  private VerbsCore() {}

  /** Why there is no data path over verbs in this process, for a person; empty if there is. */
  public static Optional<String> unavailabilityCause() {
    Optional<String> cause = NativeLibrary.unavailabilityCause();
    if (cause.isPresent()) {
      return cause;
    }
    try {
      return load() == 0
          ? Optional.empty()
          : Optional.of("libibverbs.so.1 is not installed: install libibverbs1");
    } catch (UnsatisfiedLinkError e) {
      return Optional.of("the native library was built without the headers of libibverbs");
    }
  }

  private static native int load();

  /** Bytes of a completion queue's block. */
  public static native long queueSize();

  public static native int initQueue(
      long queue, long completions, long channel, long ring, int ringEntries, int spinNs);

  public static native int closeQueue(long queue);

  public static native int resizeQueue(long queue, int entries);

  public static native int poll(long queue);

  public static native int await(long queue, long timeoutNs);

  public static native int wake(long queue);

  /** Bytes of a queue pair's block. */
  public static native long pairSize(int maxSends, int maxReceives);

  public static native int initPair(
      long pair,
      long devicePair,
      long sendQueue,
      int sendSlot,
      long receiveQueue,
      int receiveSlot,
      int generation,
      int maxSends,
      int maxReceives,
      int inlineMax);

  public static native int post(long pair, long work, int count);

  public static native int postReceive(long pair, long id);

  public static native int fail(long pair, int state);

  public static native int end(long pair);

  /** A type 2B memory window of an {@code ibv_pd}: its {@code ibv_mw}. */
  public static native long allocateWindow(long domain);

  /** The rkey that a window has now. */
  public static native int windowKey(long window);

  public static native int freeWindow(long window);
}
