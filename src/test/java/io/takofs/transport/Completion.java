package io.takofs.transport;

/** One completion as it was delivered. */
record Completion(
    QueuePair queuePair,
    long workRequestId,
    Opcode opcode,
    CompletionStatus status,
    int byteCount,
    int immediate) {}
