package io.takofs.transport;

/** Receives completions from {@link CompletionQueue#poll}; runs on the polling thread. */
@FunctionalInterface
public interface CompletionHandler {
  /**
   * One operation is done.
   *
   * @param queuePair the local queue pair the operation was posted to
   * @param workRequestId the caller's id given at the post
   * @param opcode what was done; unspecified unless {@code status} is SUCCESS
   * @param status how it ended
   * @param byteCount bytes moved by a read, or written by the peer for RECEIVE_IMMEDIATE
   * @param immediate the peer's 32 bits for RECEIVE_IMMEDIATE, else 0
   */
  void onCompletion(
      QueuePair queuePair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate);
}
