package io.takofs.transport;

/** Kind of the operation that a completion reports. */
public enum Opcode {
  WRITE,
  WRITE_WITH_IMMEDIATE,
  READ,
  COMPARE_AND_SWAP,
  FETCH_AND_ADD,
  /** At the receiver of a {@link #WRITE_WITH_IMMEDIATE}: one posted receive was consumed. */
  RECEIVE_IMMEDIATE,
  /** A memory window was bound; only where the transport has windows. */
  BIND_WINDOW,
  /** A memory window's key has ended; only where the transport has windows. */
  INVALIDATE_WINDOW
}
