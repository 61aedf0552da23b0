package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.zone.Place;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.GetExtents;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;

/**
 * Finds out which servers have the bytes of a file's blocks.
 *
 * <p>Thread rule: one thread.
 */
final class BlockLookup {
  /** Extents asked for at once: their records fit a reply slot twice over. */
  private static final int BATCH = 512;

  private final Session session;
  private final String path;
  private final long blockSize;

  /** Bytes of each block, by its index, that each server has. */
  private final Map<Long, Map<Integer, Long>> held = new HashMap<>();

  /** The fewest and the most copies that bytes of each block have, by its index. */
  private final Map<Long, IntSummaryStatistics> copies = new HashMap<>();

  private int replication;

  BlockLookup(Session session, String path, long blockSize) {
    this.session = session;
    this.path = path;
    this.blockSize = blockSize;
  }

  /** The blocks that hold the bytes from {@code start} to {@code end}, which is not before it. */
  List<BlockPlaces> run(long start, long end) throws TakoException {
    long first = start / blockSize * blockSize;
    long length = look(first, end);
    List<BlockPlaces> blocks = new ArrayList<>();
    for (long at = first; at < Math.min(end, length); at += blockSize) {
      long bytes = Math.min(blockSize, length - at);
      Map<Integer, Long> servers = held.get(at / blockSize);
      if (servers == null) {
        List<BlockPlaces.Host> any = anyHosts();
        int count = Math.min(replication, any.size());
        boolean inMetadata = !copies.containsKey(at / blockSize);
        blocks.add(new BlockPlaces(at, bytes, count, any, inMetadata));
      } else {
        blocks.add(new BlockPlaces(at, bytes, copies(at / blockSize), hosts(servers), false));
      }
    }
    return blocks;
  }

  /** Those that are told: while a file gets another replication, not yet that one. */
  private int copies(long block) {
    IntSummaryStatistics found = copies.get(block);
    return found.getMin() < replication ? found.getMin() : found.getMax();
  }

  /**
   * The servers for bytes in the metadata, which no server is nearer to than another, but for the
   * session's, which is first; none when that is alone.
   */
  private List<BlockPlaces.Host> anyHosts() throws TakoException {
    return session.servers().isAlone()
        ? List.of()
        : session.servers().all().stream().map(BlockLookup::host).toList();
  }

  private static BlockPlaces.Host host(ServerEntry entry) {
    return new BlockPlaces.Host(entry.getId(), entry.getHost(), entry.getPort(), entry.getRack());
  }

  /** Counts what is in extents from {@code start} on; returns the file's length. */
  private long look(long start, long end) throws TakoException {
    long next = start;
    while (true) {
      GetExtents.Builder what =
          GetExtents.newBuilder().setPath(path).setOffset(next).setLimit(BATCH);
      ExtentMap map =
          session.call("locate", path, Request.newBuilder().setGetExtents(what)).getExtentMap();
      replication = map.getFile().getReplication();
      for (Extent extent : map.getExtentsList()) {
        count(extent);
        next = extent.getFileOffset() + extent.getLength();
      }
      if (map.getExtentsCount() == 0 || next >= Math.min(end, map.getFile().getLength())) {
        return map.getFile().getLength();
      }
    }
  }

  private void count(Extent extent) throws TakoException {
    long end = extent.getFileOffset() + extent.getLength();
    for (long at = extent.getFileOffset(); at < end; ) {
      long block = at / blockSize;
      long bytes = Math.min(end, (block + 1) * blockSize) - at;
      List<Place> places = session.slabs().places(extent);
      copies.computeIfAbsent(block, absent -> new IntSummaryStatistics()).accept(places.size());
      for (Place place : places) {
        held.computeIfAbsent(block, absent -> new HashMap<>())
            .merge(place.server(), bytes, Long::sum);
      }
      at += bytes;
    }
  }

  private List<BlockPlaces.Host> hosts(Map<Integer, Long> servers) throws TakoException {
    List<Map.Entry<Integer, Long>> order = new ArrayList<>(servers.entrySet());
    order.sort(
        Map.Entry.<Integer, Long>comparingByValue(Comparator.reverseOrder())
            .thenComparing(Map.Entry.comparingByKey()));
    List<BlockPlaces.Host> hosts = new ArrayList<>();
    for (Map.Entry<Integer, Long> server : order) {
      ServerEntry entry = session.servers().at(server.getKey()).entry();
      if (entry != null) {
        hosts.add(host(entry));
      }
    }
    return hosts;
  }
}
