package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogSegment;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LogReplicaTest {
  private static final String DAMAGE = "as the test says";

  @Test
  void shouldNeedACheckpointWhenTheBestLogBeginsLater() throws Exception {
    LogReplica replica =
        LogReplica.open(
            1,
            new LogFixture(4, 4096).zone(),
            new LogTransports(),
            LogFixture.IDENTITY,
            23,
            () -> true);
    LogSegment first = LogSegment.newBuilder().setSequence(133).setBaseIndex(802).build();

    assertThat(replica.continuesWith(first)).isFalse();
    assertThat(replica.missingIndex()).isEqualTo(801);

    replica.cover(801);
    assertThat(replica.continuesWith(first)).isTrue();
    assertThat(replica.missingIndex()).isZero();
  }

  private static LogReplica open(LogFixture fixture) throws TakoException {
    return LogReplica.open(
        1, fixture.zone(), new LogTransports(), LogFixture.IDENTITY, 0, () -> true);
  }

  private static LogReplica openDamaged(LogFixture fixture, BooleanSupplier writersAreGone) {
    return LogReplica.openDamaged(
        fixture.zone(),
        new LogTransports(),
        LogFixture.IDENTITY,
        writersAreGone,
        new TakoException(Status.CORRUPT, DAMAGE));
  }

  private static PrepareLog prepare(long term, long epoch) {
    return PrepareLog.newBuilder().setTerm(term).setCandidate(2).setEpoch(epoch).build();
  }

  /** Entries of a term that this member led in alone, and a promise that came after. */
  private static LogFixture written() throws TakoException {
    LogFixture fixture = new LogFixture(4, 4096);
    LogReplica replica = open(fixture);
    replica.prepare(prepare(3, 4).toBuilder().setCandidate(1).build());
    replica.lead(3);
    for (int i = 0; i < 100; i++) {
      replica.append(3, FrameCodec.ENTRY, i, ByteBuffer.allocate(40));
    }
    replica.prepare(prepare(5, 4));
    assertThat(replica.lastIndex()).isEqualTo(100);
    return fixture;
  }

  @Test
  void shouldPromiseNothingAndLetNobodyInWhileItIsDamaged() throws Exception {
    LogReplica replica = openDamaged(written(), () -> true);
    assertThatThrownBy(() -> replica.prepare(prepare(9, 9))).hasMessage(DAMAGE);
    assertThatThrownBy(() -> replica.grant(GrantLog.newBuilder().setTerm(9).build()))
        .hasMessage(DAMAGE);
    assertThat(replica.admits(0, 0)).isFalse();
    assertThat(replica.lastIndex()).isZero();
  }

  @Test
  void shouldBeginAnewAsOneThatHasActedOnTheConfigurationWithoutIt() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = openDamaged(fixture, () -> true);
    assertThat(replica.renew(7, () -> {})).isTrue();
    assertThat(replica.damage()).isNull();
    assertThat(replica.freeSlots()).isEqualTo(fixture.slotCount());
    for (LogReplica each : List.of(replica, open(fixture))) {
      assertThat(each.lastIndex()).isZero();
      assertThat(each.epoch()).isEqualTo(7);
      assertThatThrownBy(() -> each.prepare(prepare(9, 6)))
          .hasFieldOrPropertyWithValue("status", Status.STALE_VERSION);
    }
    assertThat(replica.prepare(prepare(2, 7)).getLastIndex()).isZero();
  }

  @Test
  void shouldBeDamagedStillWhenItDiesWhileItBeginsAnew() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = openDamaged(fixture, () -> true);
    List<byte[][]> moments = new ArrayList<>();
    replica.renew(7, () -> moments.add(fixture.snapshot()));
    fixture.restore(moments.get(0));
    assertThatThrownBy(() -> open(fixture)).hasFieldOrPropertyWithValue("status", Status.CORRUPT);
  }

  @Test
  void shouldNotBeginAnewWhileAFormerLeaderMayStore() throws Exception {
    LogFixture fixture = written();
    byte[][] before = fixture.snapshot();
    AtomicBoolean gone = new AtomicBoolean();
    LogReplica replica = openDamaged(fixture, gone::get);
    assertThat(replica.renew(7, () -> {})).isFalse();
    assertThat(Arrays.deepEquals(fixture.snapshot(), before)).isTrue();
    assertThat(replica.damage()).hasMessage(DAMAGE);
    gone.set(true);
    assertThat(replica.renew(7, () -> {})).isTrue();
  }

  @Test
  void shouldFindBitsThatHaveChangedSinceTheyWereLookedAt() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = open(fixture);
    verify(replica);
    assertThat(replica.damage()).isNull();

    Segment tail = replica.chain().tail();
    int last = tail.length() - 1;
    ByteBuffer memory = fixture.slot(tail.slot());
    memory.put(last, (byte) (memory.get(last) ^ 1));
    verify(replica);
    assertThat(replica.damage()).hasMessageContaining("is damaged");
  }

  private static void verify(LogReplica replica) {
    long next = 0;
    do {
      next = replica.verify(next);
    } while (next != 0);
  }

  @Test
  void shouldBeginAnewAfterItLed() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = open(fixture);
    replica.prepare(prepare(6, 4).toBuilder().setCandidate(1).build());
    replica.lead(6);
    Segment first = replica.chain().segments().get(0);
    ByteBuffer memory = fixture.slot(first.slot());
    memory.put(first.length() - 1, (byte) (memory.get(first.length() - 1) ^ 1));
    verify(replica);
    assertThat(replica.damage()).isNotNull();
    assertThat(replica.isLeading(6)).isFalse();
    assertThat(replica.renew(7, () -> {})).isTrue();
    assertThat(replica.damage()).isNull();
  }
}
