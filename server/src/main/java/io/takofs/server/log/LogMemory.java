package io.takofs.server.log;

import io.takofs.transport.MemoryRegion;
import java.util.List;

/**
 * The memory of a member's log as its peers reach it: from each slot what lies after {@code
 * SEGMENT_DATA_OFFSET}, so that headers and promises are the owner's alone, and one {@code
 * HEARTBEAT}.
 *
 * @param slots one region a slot, in the order of the zone, which peers may read and write
 * @param heartbeat which peers may write
 */
public record LogMemory(List<MemoryRegion> slots, MemoryRegion heartbeat) {}
