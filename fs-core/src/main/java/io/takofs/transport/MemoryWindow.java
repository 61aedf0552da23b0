package io.takofs.transport;

/**
 * Revocable access of one peer to part of a region: a memory window of type 2B, in verbs' words.
 * Its key reaches the bound range through the one queue pair that bound it, and through no other,
 * until it is invalidated. Binding is an operation of that pair and costs about as much as a small
 * write. A window is bound through one pair only, one binding at a time, and ends with the pair at
 * the latest.
 *
 * <p>Thread rule: that of the queue pair it is bound through; close by any thread.
 */
public interface MemoryWindow extends AutoCloseable {
  /** The key of the last binding; good once that has completed, until it is invalidated. */
  int rkey();

  /** Frees the window, which ends its key if it still has one. */
  @Override
  void close();
}
