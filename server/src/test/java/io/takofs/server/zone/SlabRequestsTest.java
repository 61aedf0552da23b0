package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Arenas;
import io.takofs.proto.Extent;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.HeldSlabs;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.ListSlabs;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.extent.Location;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SlabRequestsTest {
  private static final long CLIENT = 77;
  private static final long OTHER = 78;
  private static final int UNIT = Layout.UNIT_SIZE;
  private static final List<Long> THREE_SLABS = List.of(3L * Layout.SLAB_SIZE);

  /** Locks that readers have. */
  private final Set<Location> held = new HashSet<>();

  private final List<Integer> questions = new ArrayList<>(); // extents asked for, each time
  private final ReaderHolds holds =
      new ReaderHolds() {
        @Override
        public Set<Location> held(List<Location> extents) {
          questions.add(extents.size());
          Set<Location> found = new HashSet<>(extents);
          found.removeIf(extent -> held.stream().noneMatch(lock -> overlap(lock, extent)));
          return found;
        }

        @Override
        public void describe(Arenas.Builder arenas) {}
      };

  private final ByteBuffer[] memory = HeapSlabs.memory(3);
  private final TcpTransport tcp = new TcpTransport(TcpSettings.DEFAULT);
  private MappedMemory arena;
  private ArenaExport writable;
  private WindowedClients windowed;
  private boolean formerPeers;
  private ServerDataZone zone;
  private int group = 1;
  private long term = 1;
  private long requests;

  @BeforeEach
  void open() throws Exception {
    arena = MappedMemory.anonymous(2 << 20, false);
    writable = new ArenaExport(tcp, List.of(arena));
    windowed = new WindowedClients();
    restart(THREE_SLABS);
  }

  private void restart(List<Long> arenaLengths) throws IOException {
    SlabTable table = SlabTable.open(new SlabZone(memory, SlabZone.Persistence.NONE), arenaLengths);
    zone = new ServerDataZone(List.of(), table, holds, Runnable::run, () -> formerPeers);
    zone.connections().sweep();
  }

  @AfterEach
  void close() {
    windowed.close();
    writable.close();
    arena.close();
    tcp.close();
  }

  private static boolean overlap(Location a, Location b) {
    return a.arena() == b.arena()
        && a.offset() < b.offset() + b.capacity()
        && b.offset() < a.offset() + a.capacity();
  }

  private Leadership leader() {
    return Leadership.newBuilder().setGroup(group).setTerm(term).build();
  }

  private Reply ask(Request.Builder request) {
    return zone.handle(request.build());
  }

  private List<LeasedSlab> lease(int count) {
    return lease(count, ++requests).getLeasedSlabs().getSlabsList();
  }

  private Reply lease(int count, long request) {
    return ask(
        Request.newBuilder()
            .setLeaseSlabs(
                LeaseSlabs.newBuilder().setLeader(leader()).setCount(count).setRequest(request)));
  }

  private Reply giveBack(LeasedSlab slab, Long... grantees) {
    return ask(
        Request.newBuilder()
            .setReturnSlabs(
                ReturnSlabs.newBuilder()
                    .setLeader(leader())
                    .addSlabs(
                        ReturnedSlab.newBuilder()
                            .setArena(slab.getArena())
                            .setIndex(slab.getIndex())
                            .setLease(slab.getLease())
                            .addAllGrantees(List.of(grantees)))));
  }

  private HeldSlabs list() {
    return ask(Request.newBuilder()
            .setListSlabs(ListSlabs.newBuilder().setLeader(leader()).setFirstPage(true)))
        .getHeldSlabs();
  }

  private static FencedExtent.Builder extent(LeasedSlab slab, int unit, long grantee, long grant) {
    return FencedExtent.newBuilder()
        .setArena(slab.getArena())
        .setOffset(slab.getIndex() * Layout.SLAB_SIZE + unit * UNIT)
        .setCapacity(UNIT)
        .setLease(slab.getLease())
        .setGrantee(grantee)
        .setGrant(grant);
  }

  private List<Integer> fence(FencedExtent.Builder... extents) {
    FenceExtents.Builder request = FenceExtents.newBuilder().setLeader(leader());
    for (FencedExtent.Builder extent : extents) {
      request.addExtents(extent);
    }
    Reply reply = ask(Request.newBuilder().setFenceExtents(request));
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply.getFencedExtents().getDoneList();
  }

  private boolean isFenced(FencedExtent.Builder extent) throws Exception {
    return zone.isFenced(
        new Location(extent.getArena(), extent.getOffset(), extent.getCapacity()),
        extent.getLease(),
        extent.getGrant());
  }

  private FakeDevice.Pair connect(long client) {
    FakeDevice.Pair pair = FakeDevice.newPair(posted -> {});
    zone.connections().add(client, pair.pair(), writable, () -> {});
    return pair;
  }

  private void end(FakeDevice.Pair pair) {
    zone.connections().ended(pair.pair());
    zone.connections().sweep();
  }

  @Test
  void shouldLeaseListAndTakeBackSlabs() {
    Reply reply = lease(2, 1);
    List<LeasedSlab> slabs = reply.getLeasedSlabs().getSlabsList();
    assertThat(slabs).extracting(LeasedSlab::getIndex).containsExactly(0, 1);
    assertThat(slabs).extracting(LeasedSlab::getFirstUnit).containsExactly(1, 0);
    assertThat(slabs).extracting(LeasedSlab::getEndUnit).containsExactly(256, 256);
    assertThat(reply.getLeasedSlabs().getUsage().getFree()).isEqualTo(Layout.SLAB_SIZE);
    assertThat(lease(2, 1)).as("the same request").isEqualTo(reply);
    assertThat(list().getSlabsList()).isEqualTo(slabs);
    assertThat(list().getMore()).isFalse();

    assertThat(giveBack(slabs.get(0)).getDone()).isTrue();
    assertThat(giveBack(slabs.get(0)).getDone()).as("again").isTrue();
    assertThat(list().getSlabsList()).containsExactly(slabs.get(1));
    LeasedSlab anew = lease(1, 2).getLeasedSlabs().getSlabs(0);
    assertThat(anew.getIndex()).isZero();
    assertThat(anew.getLease()).isGreaterThan(slabs.get(1).getLease());
    giveBack(slabs.get(0)); // late: another lease
    assertThat(list().getSlabsList()).containsExactly(anew, slabs.get(1));
  }

  @Test
  void shouldListInPages() throws Exception {
    int slabs = SlabRequests.PAGE_MAX + 3;
    List<Long> arenas = IntStream.range(0, 17).mapToObj(i -> (long) Layout.ARENA_SIZE).toList();
    zone =
        new ServerDataZone(List.of(), HeapSlabs.table(arenas), holds, Runnable::run, () -> false);
    lease(SlabRequests.LEASE_MAX);
    lease(3);
    HeldSlabs first = list();
    assertThat(first.getSlabsCount()).isEqualTo(SlabRequests.PAGE_MAX);
    assertThat(first.getMore()).isTrue();
    assertThat(first.getSerializedSize()).isLessThan(Layout.RPC_REPLY_SLOT_SIZE / 2);
    LeasedSlab last = first.getSlabs(SlabRequests.PAGE_MAX - 1);
    HeldSlabs second =
        ask(Request.newBuilder()
                .setListSlabs(
                    ListSlabs.newBuilder()
                        .setLeader(leader())
                        .setAfterArena(last.getArena())
                        .setAfterIndex(last.getIndex())))
            .getHeldSlabs();
    assertThat(second.getSlabsCount()).isEqualTo(slabs - SlabRequests.PAGE_MAX);
    assertThat(second.getMore()).isFalse();
  }

  @Test
  void shouldRefuseEarlierLeadersAndNonsense() {
    LeasedSlab slab = lease(1).get(0);
    term = 5;
    list();
    term = 4;
    for (Reply reply : List.of(lease(1, 9), giveBack(slab))) {
      assertThat(reply.getStatus()).isEqualTo(Status.STALE_TERM);
    }
    assertThat(
            ask(Request.newBuilder().setFenceExtents(FenceExtents.newBuilder().setLeader(leader())))
                .getStatus())
        .isEqualTo(Status.STALE_TERM);
    term = 5;
    assertThat(list().getSlabsList()).containsExactly(slab);

    assertThat(lease(1, 0).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(lease(-1, 1).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(giveBack(slab.toBuilder().setIndex(3).build()).getStatus())
        .isEqualTo(Status.INVALID_ARGUMENT);
    for (FencedExtent.Builder extent :
        List.of(
            extent(slab, 0, CLIENT, 1), // checksums
            extent(slab, 1, CLIENT, 1).setArena(1),
            extent(slab, 1, CLIENT, 1).setOffset(-UNIT),
            extent(slab, 1, CLIENT, 1).setOffset(UNIT + 1),
            extent(slab, 1, CLIENT, 1).setCapacity(0),
            extent(slab, 255, CLIENT, 1).setCapacity(2 * UNIT),
            extent(slab, 1, CLIENT, 0))) {
      Reply reply =
          ask(
              Request.newBuilder()
                  .setFenceExtents(
                      FenceExtents.newBuilder().setLeader(leader()).addExtents(extent)));
      assertThat(reply.getStatus()).as(extent.toString()).isEqualTo(Status.INVALID_ARGUMENT);
    }
    assertThat(ask(Request.newBuilder()).getStatus()).isEqualTo(Status.UNSUPPORTED);
    group = 0;
    assertThat(lease(1, 1).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldWaitForTheConnectionsThatWereThereWhenAFenceWasAskedForFirst() throws Exception {
    LeasedSlab slab = lease(1).get(0);
    FakeDevice.Pair before = connect(CLIENT);
    FencedExtent.Builder extent = extent(slab, 1, CLIENT, 9);
    assertThat(isFenced(extent)).isFalse();
    assertThat(fence(extent)).isEmpty();
    assertThat(isFenced(extent)).as("while it is being fenced").isTrue();
    assertThat(isFenced(extent(slab, 1, CLIENT, 10))).isFalse();
    assertThat(isFenced(extent(slab, 2, CLIENT, 9))).isFalse();
    end(before);
    FakeDevice.Pair after = connect(CLIENT);
    assertThat(before.revocations()).hasValue(1);
    assertThat(fence(extent)).containsExactly(0);
    assertThat(after.revocations()).as("it asked whether its grants live").hasValue(0);

    assertThat(fence(extent, extent(slab, 2, CLIENT, 9))).as("another extent").containsExactly(0);
    assertThat(fence(extent(slab, 1, CLIENT, 8))).as("an earlier grant").containsExactly(0);
    assertThat(fence(extent(slab, 1, CLIENT, 10))).as("a later grant").isEmpty();
  }

  @Test
  void shouldEndConnectionsWhenForced() {
    LeasedSlab slab = lease(1).get(0);
    FakeDevice.Pair mine = connect(CLIENT);
    FakeDevice.Pair others = connect(OTHER);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).isEmpty();
    zone.connections().sweep();
    assertThat(mine.revocations()).hasValue(0);
    assertThat(fence(extent(slab, 1, CLIENT, 9).setForce(true))).isEmpty();
    zone.connections().sweep();
    assertThat(mine.revocations()).hasValue(1);
    assertThat(others.revocations()).hasValue(0);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).containsExactly(0);
  }

  @Test
  void shouldAnswerADoneFenceFromTheSlabZoneAfterARestart() throws Exception {
    LeasedSlab slab = lease(1).get(0);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).containsExactly(0);
    formerPeers = true;
    restart(THREE_SLABS);
    questions.clear();
    assertThat(fence(extent(slab, 1, CLIENT, 9), extent(slab, 2, CLIENT, 9))).containsExactly(0);
    assertThat(questions).as("readers of both are looked for").containsExactly(2);
    assertThat(isFenced(extent(slab, 1, CLIENT, 9))).isTrue();
    assertThat(isFenced(extent(slab, 1, CLIENT, 10))).isFalse();
    formerPeers = false;
    zone.connections().sweep();
    assertThat(fence(extent(slab, 2, CLIENT, 9))).containsExactly(0);
  }

  @Test
  void shouldWaitForReadersAndAskForAllAtOnce() {
    LeasedSlab slab = lease(1).get(0);
    FencedExtent.Builder[] extents =
        IntStream.range(1, 129)
            .mapToObj(unit -> extent(slab, unit, unit % 2 == 0 ? CLIENT : 0, 9))
            .toArray(FencedExtent.Builder[]::new);
    held.add(new Location(0, 3 * UNIT, UNIT)); // without a writer
    held.add(new Location(0, 4 * UNIT, UNIT));
    questions.clear();
    assertThat(fence(extents)).hasSize(126).doesNotContain(2, 3);
    assertThat(questions).containsExactly(128);
    held.clear();
    assertThat(fence(extents)).hasSize(128);
  }

  /** An extent can be fenced while it is committed, then read in place, and then deleted. */
  @Test
  void shouldLookForReadersThoughTheWriterIsFenced() {
    LeasedSlab slab = lease(1).get(0);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).containsExactly(0);
    held.add(new Location(0, UNIT, UNIT));
    assertThat(fence(extent(slab, 1, CLIENT, 9))).isEmpty();
    held.clear();
    assertThat(fence(extent(slab, 1, CLIENT, 9))).containsExactly(0);
  }

  @Test
  void shouldAnswerAtOnceForALeaseThatIsOver() throws Exception {
    LeasedSlab slab = lease(1).get(0);
    connect(CLIENT);
    held.add(new Location(0, UNIT, UNIT));
    FencedExtent.Builder other = extent(slab, 1, CLIENT, 9).setLease(slab.getLease() + 1);
    assertThat(fence(other)).containsExactly(0);
    assertThat(isFenced(other)).isTrue();
    group = 2;
    assertThat(fence(extent(slab, 1, CLIENT, 9))).as("another group's").containsExactly(0);
    group = 1;
    assertThat(fence(extent(slab, 1, CLIENT, 9))).isEmpty();
  }

  @Test
  void shouldCloseWindowsAndWaitUntilTheyAre() throws Exception {
    LeasedSlab slab = lease(1).get(0);
    FakeDevice.Pair pair = FakeDevice.newPair(posted -> {});
    zone.connections().add(CLIENT, pair.pair(), windowed.export, () -> {});
    zone.windows()
        .connected(
            CLIENT,
            new WindowedConnection(
                pair.pair(),
                new WindowPosts(
                    pair.pair(),
                    windowed.export,
                    ConnectionInfo.ours(Layout.CONNECTION_DATA, CLIENT, 0, 64, 64))));
    Extent opened = Extent.newBuilder().setOffset(UNIT).setCapacity(UNIT).build();
    zone.windows().open(CLIENT, 7, List.of(opened), new ReplyGate());
    zone.windows().post();
    pair.posted().clear();
    assertThat(fence(extent(slab, 2, CLIENT, 9))).as("no window there").containsExactly(0);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).isEmpty();
    zone.windows().post();
    assertThat(pair.posted()).as("what proves that it is closed").isNotEmpty();
    assertThat(fence(extent(slab, 1, CLIENT, 9))).isEmpty();
    end(pair);
    assertThat(fence(extent(slab, 1, CLIENT, 9))).containsExactly(0);
  }

  @Test
  void shouldLendAReturnedSlabOnlyWhenNobodyCanWriteOrReadsIt() throws Exception {
    List<LeasedSlab> slabs = lease(3);
    FakeDevice.Pair mine = connect(CLIENT);
    FakeDevice.Pair others = connect(OTHER);
    LeasedSlab slab = slabs.get(1);
    giveBack(slab, CLIENT);
    assertThat(list().getSlabsCount()).isEqualTo(2);
    zone.connections().sweep();
    assertThat(mine.revocations()).as("nobody needs the slab").hasValue(0);
    assertThat(isFenced(extent(slab, 1, CLIENT, 100))).as("any grant").isTrue();
    assertThat(lease(1)).isEmpty();
    zone.connections().sweep();
    assertThat(mine.revocations()).as("the slab is needed").hasValue(1);
    assertThat(others.revocations()).hasValue(0);
    Location last = new Location(0, 2 * Layout.SLAB_SIZE - 4096, 4096);
    held.add(last);
    assertThat(lease(1)).isEmpty();
    held.remove(last);
    held.add(new Location(0, 2 * Layout.SLAB_SIZE, 4096)); // of the next slab
    connect(CLIENT); // it asks first
    assertThat(lease(1)).extracting(LeasedSlab::getIndex).containsExactly(1);
  }

  @Test
  void shouldWaitForFormerPeersBeforeItLendsASlabThatWasReturnedBeforeARestart() throws Exception {
    List<LeasedSlab> slabs = lease(3);
    connect(CLIENT);
    giveBack(slabs.get(0), CLIENT);
    formerPeers = true;
    restart(THREE_SLABS);
    connect(CLIENT); // so it left its former connection, but others may not have
    assertThat(lease(1)).isEmpty();
    formerPeers = false;
    zone.connections().sweep();
    assertThat(lease(1)).extracting(LeasedSlab::getIndex).containsExactly(0);
  }

  @Test
  void shouldNotChangeTheTableAfterItCouldNotBeMadePersistent() throws Exception {
    boolean[] broken = new boolean[1];
    SlabTable table =
        SlabTable.open(
            new SlabZone(
                memory,
                (slot, at, length) -> {
                  if (broken[0]) {
                    throw new IOException("the medium is gone");
                  }
                }),
            THREE_SLABS);
    zone = new ServerDataZone(List.of(), table, holds, Runnable::run, () -> false);
    assertThat(lease(1)).hasSize(1);
    broken[0] = true;
    assertThat(lease(1, 50).getMessage()).contains("the medium is gone");
    broken[0] = false;
    assertThat(lease(1, 51).getStatus()).isEqualTo(Status.UNAVAILABLE);
  }
}
