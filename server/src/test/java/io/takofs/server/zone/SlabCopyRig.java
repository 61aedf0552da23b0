package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.extent.Slabs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A zone that pulls extents from arenas of other servers, which a test may change. */
abstract class SlabCopyRig {
  static final int UNIT = Layout.UNIT_SIZE;
  static final long ARENA = 2L * Layout.SLAB_SIZE;
  static final Leadership LEADER = Leadership.newBuilder().setGroup(1).setTerm(1).build();

  @TempDir Path directory;
  final Deque<AutoCloseable> opened = new ArrayDeque<>();
  final Random random = new Random(3);
  final Map<Integer, SlabSources> servers = new HashMap<>();
  final List<Integer> connects = new ArrayList<>();
  final ManualClock clock = new ManualClock();
  MappedMemory target;
  ServerDataZone zone;
  SlabCopy copy;
  LeasedSlab slab;
  long requests;

  @BeforeEach
  void open() throws Exception {
    open(ARENA);
  }

  /** A target of {@code length} bytes. */
  void open(long length) throws Exception {
    target = keep(MappedMemory.create(directory.resolve("target"), length));
    zone =
        new ServerDataZone(
            List.of(target),
            HeapSlabs.table(List.of(length)),
            ReaderHolds.NONE,
            Runnable::run,
            () -> false);
    zone.connections().sweep();
    copy = keep(zone.copyFrom(this::connect, clock));
    slab = lease();
  }

  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  <T extends AutoCloseable> T keep(T resource) {
    opened.push(resource);
    return resource;
  }

  SlabSource connect(int server) throws TakoException {
    connects.add(server);
    SlabSources source = servers.get(server);
    if (source == null) {
      throw new TakoException(Status.DISCONNECTED, "server " + server + " is gone");
    }
    SlabSource opened = source.open(server);
    return new SlabSource() {
      @Override
      public void prefetch(int arena, int offset, int length) {
        opened.prefetch(arena, offset, length);
      }

      @Override
      public void forget() {
        opened.forget();
      }

      @Override
      public Bytes read(int arena, int offset, int length) throws TakoException {
        // Mapped memory may be read for a moment after its server has gone.
        if (!servers.containsKey(server)) {
          throw new TakoException(Status.DISCONNECTED, "server " + server + " is gone");
        }
        return opened.read(arena, offset, length);
      }

      @Override
      public void close() {
        opened.close();
      }
    };
  }

  LeasedSlab lease() {
    Reply reply =
        zone.handle(
            Request.newBuilder()
                .setLeaseSlabs(
                    LeaseSlabs.newBuilder().setLeader(LEADER).setCount(1).setRequest(++requests))
                .build());
    return reply.getLeasedSlabs().getSlabs(0);
  }

  void giveBack(LeasedSlab leased) {
    zone.handle(
        Request.newBuilder()
            .setReturnSlabs(
                ReturnSlabs.newBuilder()
                    .setLeader(LEADER)
                    .addSlabs(
                        ReturnedSlab.newBuilder()
                            .setArena(leased.getArena())
                            .setIndex(leased.getIndex())
                            .setLease(leased.getLease())))
            .build());
  }

  /** An arena of another server, which a test may change. */
  MappedMemory arena(int server) throws IOException {
    return keep(MappedMemory.create(directory.resolve("source" + server), ARENA));
  }

  /** A source in this process, whose reads see the arena as it is. */
  void local(int server, MappedMemory arena) {
    servers.put(
        server,
        id ->
            new SlabSource() {
              @Override
              public Bytes read(int index, int offset, int length) {
                int entries = length / Layout.GRANULE_SIZE * Integer.BYTES;
                int entriesAt = offset / Layout.GRANULE_SIZE * Integer.BYTES;
                return new Bytes(arena.slice(offset, length), arena.slice(entriesAt, entries));
              }

              @Override
              public void close() {}
            });
  }

  /** Random bytes, as a client would have written them to slab 1 of the arena, and their record. */
  Extent written(MappedMemory arena, int unit, int capacity, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return WrittenExtents.write(arena, 1, unit, bytes).toBuilder().setCapacity(capacity).build();
  }

  CopyExtents.Builder request(List<Extent> extents, int... sources) {
    CopyExtents.Builder request =
        CopyExtents.newBuilder()
            .setLeader(LEADER)
            .setAttempt(5)
            .setTarget(Slabs.replica(1, slab))
            .addAllExtents(extents);
    for (int source : sources) {
      request.addSources(Replica.newBuilder().setServer(source).setIndex(1).setLease(9));
    }
    return request;
  }

  Reply reply(CopyExtents.Builder request) {
    return zone.handle(Request.newBuilder().setCopyExtents(request).build());
  }

  CopyProgress ask(CopyExtents.Builder request) {
    Reply reply = reply(request);
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply.getCopyProgress();
  }

  void steps() {
    while (copy.step() == 0) {
      // goes on with the next extent
    }
  }

  void assertCopied(MappedMemory from, List<Extent> extents) {
    for (Extent extent : extents) {
      assertThat(WrittenExtents.bytes(target, slab.getIndex(), extent))
          .isEqualTo(WrittenExtents.bytes(from, 1, extent));
      assertThat(WrittenExtents.entries(target, slab.getIndex(), extent))
          .isEqualTo(WrittenExtents.entries(from, 1, extent));
    }
  }

  List<Extent> manyExtents(MappedMemory arena) {
    return List.of(
        written(arena, 16, 1 << 20, 1 << 20),
        written(arena, 32, UNIT, UNIT - 4000),
        written(arena, 33, UNIT, 1),
        written(arena, 34, UNIT, Layout.GRANULE_SIZE),
        written(arena, 48, 1 << 20, 777_777),
        written(arena, 255, UNIT, UNIT));
  }

  static void flip(MappedMemory arena, long at) {
    ByteBuffer one = arena.slice(at, 1);
    one.put(0, (byte) (one.get(0) ^ 4));
  }
}
