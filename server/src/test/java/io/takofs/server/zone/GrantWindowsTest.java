package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.extent.Location;
import io.takofs.transport.CompletionStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Windows that a data server opens for grants, and the fences of a leader. */
class GrantWindowsTest {
  private static final long CLIENT = 77;
  private static final long OTHER = 78;
  private static final long FILE = 5;
  private static final Leadership LEADER = Leadership.newBuilder().setGroup(1).setTerm(1).build();

  private final ByteBuffer[] memory = HeapSlabs.memory(3);
  private WindowedClients device;
  private ServerDataZone zone;
  private LeasedSlab slab;

  @BeforeEach
  void open() throws Exception {
    device = new WindowedClients();
    start();
    slab = lease(1);
  }

  @AfterEach
  void close() {
    device.close();
  }

  private void start() throws IOException {
    SlabTable table =
        SlabTable.open(
            new SlabZone(memory, SlabZone.Persistence.NONE), List.of(3L * Layout.SLAB_SIZE));
    zone = new ServerDataZone(List.of(), table, ReaderHolds.NONE, Runnable::run, () -> false);
    zone.connections().sweep();
  }

  private Reply ask(Request.Builder request) {
    Reply reply = zone.handle(request.build());
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply;
  }

  private LeasedSlab lease(long request) {
    LeaseSlabs.Builder lease =
        LeaseSlabs.newBuilder().setLeader(LEADER).setCount(1).setRequest(request);
    return ask(Request.newBuilder().setLeaseSlabs(lease)).getLeasedSlabs().getSlabs(0);
  }

  private FakeDevice.Pair connect(long client) throws IOException {
    FakeDevice.Pair pair = FakeDevice.newPair(posted -> {});
    ConnectionInfo info = ConnectionInfo.ours(Layout.CONNECTION_DATA, client, 0, 64, 64);
    WindowPosts posts = new WindowPosts(pair.pair(), device.export, info);
    zone.windows().connected(client, new WindowedConnection(pair.pair(), posts));
    return pair;
  }

  private Extent extent(long grant) {
    return Extent.newBuilder()
        .setArena(slab.getArena())
        .setOffset(slab.getIndex() * Layout.SLAB_SIZE + Layout.UNIT_SIZE)
        .setCapacity(Layout.UNIT_SIZE)
        .setGrant(grant)
        .build();
  }

  private boolean opens(long client, long grant, long lease) throws Exception {
    ReplyGate gate = new ReplyGate();
    boolean opened = zone.open(client, FILE, extent(grant), lease, gate);
    gate.release();
    return opened;
  }

  private boolean opens(long client, long grant) throws Exception {
    return opens(client, grant, slab.getLease());
  }

  private int keyOf(long client, long grant) {
    return zone.windows().withKeys(client, FILE, extent(grant)).getRkey();
  }

  private void complete(FakeDevice.Pair pair) {
    zone.windows().post();
    zone.windows().onCompletion(pair.pair(), pair.posted().remove(), CompletionStatus.SUCCESS);
  }

  private boolean isFenced(long client, long grant) {
    Extent extent = extent(grant);
    FencedExtent.Builder fenced =
        FencedExtent.newBuilder()
            .setArena(extent.getArena())
            .setOffset(extent.getOffset())
            .setCapacity(extent.getCapacity())
            .setLease(slab.getLease())
            .setGrantee(client)
            .setGrant(grant);
    FenceExtents.Builder fence = FenceExtents.newBuilder().setLeader(LEADER).addExtents(fenced);
    Reply reply = ask(Request.newBuilder().setFenceExtents(fence));
    return reply.getFencedExtents().getDoneCount() == 1;
  }

  @Test
  void shouldOpenNoneForAGrantThatIsFencedAlsoAfterARestart() throws Exception {
    assertThat(opens(CLIENT, 9)).isTrue();
    assertThat(isFenced(CLIENT, 9)).isTrue();
    assertThat(opens(CLIENT, 9)).isFalse();
    assertThat(opens(CLIENT, 8)).as("an earlier grant").isFalse();
    assertThat(opens(OTHER, 10)).as("the next grant").isTrue();
    start();
    assertThat(opens(CLIENT, 9)).isFalse();
    assertThat(opens(OTHER, 10)).isTrue();
  }

  @Test
  void shouldOpenNoneUnderAnotherLease() throws Exception {
    LeasedSlab former = slab;
    assertThat(opens(CLIENT, 9, former.getLease() + 1)).isFalse();
    ReturnedSlab.Builder returned =
        ReturnedSlab.newBuilder()
            .setArena(former.getArena())
            .setIndex(former.getIndex())
            .setLease(former.getLease());
    ask(
        Request.newBuilder()
            .setReturnSlabs(ReturnSlabs.newBuilder().setLeader(LEADER).addSlabs(returned)));
    assertThat(opens(CLIENT, 9, former.getLease())).as("returned").isFalse();
    slab = lease(2);
    assertThat(slab.getIndex()).isEqualTo(former.getIndex());
    assertThat(opens(CLIENT, 9, former.getLease())).as("lent anew").isFalse();
    assertThat(opens(CLIENT, 9)).isTrue();
  }

  @Test
  void shouldHaveTheWindowsOfAGrantClosedBeforeItIsFenced() throws Exception {
    FakeDevice.Pair pair = connect(CLIENT);
    opens(CLIENT, 9);
    complete(pair);
    assertThat(keyOf(CLIENT, 9)).isNotZero();

    assertThat(isFenced(CLIENT, 9)).isFalse();
    assertThat(keyOf(CLIENT, 9)).isZero();
    assertThat(opens(CLIENT, 9)).as("while it is being fenced").isFalse();
    complete(pair);
    assertThat(isFenced(CLIENT, 9)).isTrue();
    assertThat(keyOf(CLIENT, 9)).isZero();
  }

  @Test
  void shouldNotTakeWindowsFromALaterGrant() throws Exception {
    connect(CLIENT);
    FakeDevice.Pair later = connect(OTHER);
    opens(OTHER, 10);
    complete(later);
    assertThat(opens(CLIENT, 9)).as("what was late on its way").isFalse();
    assertThat(keyOf(OTHER, 10)).isNotZero();
  }

  @Test
  void shouldCloseWhatItsClientLeft() throws Exception {
    FakeDevice.Pair pair = connect(CLIENT);
    opens(CLIENT, 9);
    complete(pair);
    zone.windows().leave(OTHER, Location.of(extent(9)), 9);
    zone.windows().leave(CLIENT, Location.of(extent(9)), 8);
    zone.windows().leave(CLIENT, new Location(0, Integer.MIN_VALUE, Integer.MAX_VALUE), 9);
    assertThat(keyOf(CLIENT, 9)).isNotZero();
    zone.windows().leave(CLIENT, Location.of(extent(9)), 9);
    complete(pair);
    assertThat(keyOf(CLIENT, 9)).isZero();
    assertThat(zone.windows().isWritable(Location.of(extent(9)))).isFalse();
  }
}
