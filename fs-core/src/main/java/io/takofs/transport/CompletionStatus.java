package io.takofs.transport;

/** Outcome of one posted operation; after anything but SUCCESS the queue pair is in error. */
public enum CompletionStatus {
  /** Done, and the bytes are placed. */
  SUCCESS,
  /** Never attempted or of unknown effect: the pair went into error first. */
  FLUSHED,
  /** A local buffer is outside its region, or its region is closed. */
  LOCAL_ACCESS_ERROR,
  /** The peer refused: unknown rkey, outside the region, or an access the region does not allow. */
  REMOTE_ACCESS_ERROR,
  /** The peer had no receive posted within the retry limit. */
  RECEIVER_NOT_READY,
  /** The peer did not answer within the transport's retry limit. */
  RETRY_EXCEEDED
}
