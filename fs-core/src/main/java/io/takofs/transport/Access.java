package io.takofs.transport;

/** Operations that peers may perform on a registered region. */
public enum Access {
  /** Local use only: source of writes, sink of reads. */
  LOCAL,
  REMOTE_READ,
  REMOTE_READ_WRITE,
  /** Remote read, write, compare-and-swap and fetch-and-add. */
  REMOTE_ATOMIC
}
