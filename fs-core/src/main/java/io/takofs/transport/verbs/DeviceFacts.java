package io.takofs.transport.verbs;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * Properties of an RDMA device and of one of its ports.
 *
 * @param device its name, as the kernel has it ({@code rxe0}, {@code mlx5_0})
 * @param port number, from 1
 * @param portState in the words of verbs ({@code ACTIVE})
 * @param linkLayer {@code InfiniBand} or {@code Ethernet}
 * @param activeMtu bytes
 * @param gidIndex of the address that connections use; -1 where there is none
 * @param gidType of that entry of the table: {@code InfiniBand}, {@code RoCE v1}, {@code RoCE v2}
 * @param maxQueuePairs queue pairs of the device
 * @param maxRegions memory regions of the device
 * @param maxQueuePairWork work requests that one queue of a pair takes
 * @param maxScatterGather elements of one work request
 * @param maxInline bytes that a queue pair with a single element takes inline, as tried
 * @param maxCompletions entries of one completion queue
 * @param maxRegionBytes bytes of one registration
 * @param maxReads reads and atomics outstanding that a queue pair can be the target of
 * @param atomics whether atomics are atomic against other operations of the same device at least
 * @param windows2B whether it has type 2B memory windows
 * @param dataInOrder whether a write's bytes land in order; empty where the library cannot be asked
 */
public record DeviceFacts(
    String device,
    int port,
    String portState,
    String linkLayer,
    int activeMtu,
    int gidIndex,
    String gidType,
    int maxQueuePairs,
    int maxRegions,
    int maxQueuePairWork,
    int maxScatterGather,
    int maxInline,
    int maxCompletions,
    long maxRegionBytes,
    int maxReads,
    boolean atomics,
    boolean windows2B,
    Optional<Boolean> dataInOrder) {
  private static final List<String> PORT_STATES =
      List.of("NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER");
  private static final List<String> GID_TYPES = List.of("InfiniBand", "RoCE v1", "RoCE v2");
  private static final int LINK_LAYER_ETHERNET = 2;
  private static final int NAME_LENGTH = Layout.VERBS_DEVICE_PORT_OFFSET;

  /** Whether connections can be made through the port. */
  public boolean isActive() {
    return portState.equals("ACTIVE");
  }

  /** Reads the record VERBS_DEVICE at {@code offset} of a block. */
  static DeviceFacts read(NativeBlock block, int offset) {
    ByteBuffer bytes = block.bytes();
    int flags = bytes.getInt(offset + Layout.VERBS_DEVICE_FLAGS_OFFSET);
    return new DeviceFacts(
        block.text(offset + Layout.VERBS_DEVICE_NAME_OFFSET, NAME_LENGTH),
        bytes.getInt(offset + Layout.VERBS_DEVICE_PORT_OFFSET),
        name(PORT_STATES, bytes.getInt(offset + Layout.VERBS_DEVICE_PORT_STATE_OFFSET)),
        bytes.getInt(offset + Layout.VERBS_DEVICE_LINK_LAYER_OFFSET) == LINK_LAYER_ETHERNET
            ? "Ethernet"
            : "InfiniBand",
        bytes.getInt(offset + Layout.VERBS_DEVICE_ACTIVE_MTU_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_GID_INDEX_OFFSET),
        name(GID_TYPES, bytes.getInt(offset + Layout.VERBS_DEVICE_GID_TYPE_OFFSET)),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_QUEUE_PAIRS_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_REGIONS_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_QUEUE_PAIR_WORK_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_SCATTER_GATHER_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_INLINE_OFFSET),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_COMPLETIONS_OFFSET),
        regionBytes(bytes.getLong(offset + Layout.VERBS_DEVICE_MAX_REGION_BYTES_OFFSET)),
        bytes.getInt(offset + Layout.VERBS_DEVICE_MAX_READS_OFFSET),
        (flags & Layout.VERBS_ATOMICS) != 0,
        (flags & Layout.VERBS_WINDOWS_2B) != 0,
        (flags & Layout.VERBS_DATA_ORDER_KNOWN) != 0
            ? Optional.of((flags & Layout.VERBS_DATA_IN_ORDER) != 0)
            : Optional.empty());
  }

  private static String name(List<String> names, int value) {
    return value >= 0 && value < names.size() ? names.get(value) : Integer.toString(value);
  }

  /** Unsigned; a device without a limit says all ones. */
  private static long regionBytes(long unsigned) {
    return unsigned < 0 ? Long.MAX_VALUE : unsigned;
  }
}
