package io.takofs.transport.verbs;

/**
 * What an RDMA device and one of its ports are and can do.
 *
 * @param device its name, as the kernel has it ({@code rxe0}, {@code mlx5_0})
 * @param port number, from 1
 * @param portState in the words of verbs ({@code ACTIVE})
 * @param linkLayer {@code InfiniBand} or {@code Ethernet}
 * @param activeMtu bytes
 * @param gidIndex of the address that connections use; -1 where there is none
 * @param maxQueuePairWork work requests that one queue of a pair takes
 * @param maxScatterGather elements of one work request
 * @param maxInline bytes that a queue pair with a single element takes inline, as tried
 * @param maxCompletions entries of one completion queue
 * @param maxRegionBytes bytes of one registration
 * @param maxReads reads and atomics outstanding that a queue pair can be the target of
 * @param atomics whether atomics are atomic against other operations of the same device at least
 * @param windows2B whether it has type 2B memory windows
 * @param dataInOrder whether a write's bytes land in order, as far as the library can tell
 */
record DeviceFacts(
    String device,
    int port,
    String portState,
    String linkLayer,
    int activeMtu,
    int gidIndex,
    int maxQueuePairWork,
    int maxScatterGather,
    int maxInline,
    int maxCompletions,
    long maxRegionBytes,
    int maxReads,
    boolean atomics,
    boolean windows2B,
    boolean dataInOrder) {}
