package io.takofs.jni;

/**
 * The calls that the control path of the verbs transport needs beside DiSNI's, one for one; {@code
 * native/include/tako/verbs_control.h} says what each does. Addresses and handles are longs,
 * results are at least 0 or a negated errno.
 *
 * <p>Only {@code io.takofs.transport.verbs} calls them, and only when {@link
 * VerbsLibrary#isAvailable}.
 */
public final class NativeControl {
  private NativeControl() {}

  /** The layout hash the library was compiled with. */
  static native long layoutHash();

  /** Fills up to {@code max} records VERBS_DEVICE; returns how many there are. */
  public static native int devices(long out, int max);

  /** Fills the VERBS_DEVICE of the port that an {@code rdma_cm_id} goes through. */
  public static native int query(long id, long out);

  /** Registers a huge page of {@code length} bytes through an {@code ibv_context}, to try. */
  public static native int registerHugePage(long context, long length);

  /** Copies the VERBS_EVENT of an identifier's last event. */
  public static native int event(long id, long out);

  /** Sets how many elements a work request of an identifier's queue pair will take. */
  public static native int stagePair(long id, int maxScatterGather);

  /** Keeps private data for the next accept of an identifier. */
  public static native int stageAccept(long id, long data, int length);

  public static native int reject(long id, long data, int length);

  /** An event file descriptor that ends {@link #awaitEvent}. */
  public static native int createWakeup();

  public static native int wakeup(int fd);

  public static native int closeWakeup(int fd);

  /** {@link #awaitEvent}: the event channel has an event. */
  public static final int EVENT = 1;

  /** {@link #awaitEvent}: the event channel will have no event any more. */
  public static final int EVENTS_ENDED = 2;

  /** Waits; {@link #EVENT}, {@link #EVENTS_ENDED}, or 0 when it was woken up or timed out. */
  public static native int awaitEvent(long channel, int wakeup, int timeoutMs);

  /** The file descriptor of an {@code ibv_comp_channel}, made non-blocking. */
  public static native int channelDescriptor(long channel);
}
