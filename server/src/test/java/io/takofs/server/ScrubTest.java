package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Replica;
import io.takofs.proto.ServerEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Servers verify what they keep, once a period of seven days; the servers are scripted. */
class ScrubTest extends SlabRepairRig {
  private static final int DAY = 86_400;

  private void spoil(int server) {
    Replica replica =
        dataSlab().getReplicasList().stream()
            .filter(each -> each.getServer() == server)
            .findAny()
            .orElseThrow();
    spoil(dataSlab(), replica, 0);
  }

  /** Time passes in which nobody does anything. */
  private void sleep(int seconds) {
    rig.passMs(seconds * 1000L);
    run(5);
  }

  @Test
  void shouldVerifyEachCopyOnceAPeriod() throws Exception {
    lead(3, 3);
    write("/file", 3, 5);
    run(5);
    assertThat(servers.verified).as("the leader has just started").isZero();
    sleep(601);
    assertThat(servers.verified).isEqualTo(15);
    assertThat(rig.repair.status().getBytesVerified()).isEqualTo(15 * 65536);
    run(60);
    assertThat(servers.verified).isEqualTo(15);
    sleep(7 * DAY);
    assertThat(servers.verified).isEqualTo(30);
    assertThat(rig.repair.status().getWrongCopies()).isZero();
  }

  /** Leaders that last for less than a pass must not verify the same slabs only. */
  @Test
  void shouldBeginWithTheSlabWhoseTurnItIs() throws Exception {
    lead(3, 3);
    write("/one", 1, 5);
    write("/two", 2, 5);
    write("/three", 3, 5);
    sleep(2 * DAY); // a seventh of a period was over when the rig began
    int before = servers.verified;
    servers.scrubbed.clear();
    restart();
    sleep(601);
    List<Long> slabs =
        servers.scrubbed.stream().map(each -> rig.machine.slabs().at(each).getId()).toList();
    long turn = 3 * rig.machine.slabs().lastId() / 7;
    assertThat(slabs.get(0)).isGreaterThan(turn);
    assertThat(slabs).as("the others come after it").anyMatch(id -> id <= turn);
    assertThat(servers.verified - before).isEqualTo(30);
    sleep(7 * DAY);
    assertThat(servers.verified - before).isEqualTo(60);
  }

  /** As servers do that verify within a limit. */
  @Test
  void shouldAskSeldomWhileNothingComes() throws Exception {
    lead(3, 3);
    write("/file", 3, 5);
    servers.verifies = false;
    sleep(601);
    int before = servers.verifications;
    run(10);
    assertThat(servers.verifications - before).as("at three servers").isBetween(20, 200);
    before = servers.verifications;
    for (int i = 0; i < 1000; i++) { // each answer wants a tick
      servers.deliver();
      rig.housekeeping.tick();
    }
    assertThat(servers.verifications - before).isLessThan(20);
    servers.verifies = true;
    run(2);
    assertThat(rig.repair.status().getBytesVerified()).isEqualTo(15 * 65536);
  }

  /** The rest of a slab is verified after copies were made for long. */
  @Test
  void shouldGoOnAfterAPause() throws Exception {
    lead(4, 2);
    write("/file", 2, 5);
    servers.verifies = false;
    sleep(601);
    write("/other", 1, 5);
    int gone = serversOf(dataSlab()).get(0);
    servers.copied = 0;
    write("/gone", 2, 5);
    servers.mark(gone, ServerEntry.State.DECOMMISSIONING);
    await(() -> rig.repair.status().getSlabsCopiedNow() > 0, 20);
    run(90);
    servers.copied = Integer.MAX_VALUE;
    servers.verifies = true;
    await(() -> rig.repair.status().getSlabsCopiedNow() == 0 && isWhole(2), 60);
    run(60);
    assertThat(rig.repair.status().getBytesVerified()).isGreaterThanOrEqualTo(10 * 65536);
  }

  @Test
  void shouldReplaceACopyThatIsWrong() throws Exception {
    lead(3, 3);
    write("/file", 3, 5);
    spoil(2);
    sleep(601);
    await(() -> isWhole(3), 30);
    assertThat(rig.repair.status().getWrongCopies()).isEqualTo(1);
    checkNoLeak(1, 2, 3);
  }

  /** No server has room for another copy, so each period finds the same bytes. */
  @Test
  void shouldCountOnceWhatCannotBeReplacedYet() throws Exception {
    lead(2, 1, "rack", "rack");
    write("/file", 2, 5);
    spoil(2);
    for (int period = 1; period <= 3; period++) {
      sleep(7 * DAY);
      assertThat(servers.verified).isEqualTo(10 * period);
      assertThat(rig.repair.status().getWrongCopies()).isEqualTo(1);
    }
  }

  /** An extent that is written there later has another copy, which counts anew. */
  @Test
  void shouldCountWhatIsWrongInTheSamePlaceLater() throws Exception {
    lead(1, 1);
    for (int file = 1; file <= 3; file++) {
      write("/file", 1, 5);
      spoil(1);
      sleep(7 * DAY);
      sleep(7 * DAY);
      assertThat(rig.repair.status().getWrongCopies()).isEqualTo(file);
      delete("/file");
      run(60);
    }
  }

  @Test
  void shouldKeepTheOnlyCopy() throws Exception {
    lead(1, 1);
    write("/file", 1, 5);
    spoil(1);
    sleep(601);
    assertThat(rig.repair.status().getWrongCopies()).isEqualTo(1);
    assertThat(servers.verified).isEqualTo(5);
    assertThat(rig.repair.files().getCorrupt()).isEqualTo(1);
    assertThat(rig.repair.files().getMissing()).isZero();
    assertThat(dataSlab().getClosed()).isFalse();
    assertThat(servers.copies).isZero();
    delete("/file");
    run(2);
    assertThat(rig.repair.files().getCorrupt()).isZero();
  }

  @Test
  void shouldNotBlameAServerForWhatWasDeleted() throws Exception {
    lead(2, 2);
    write("/file", 2, 5);
    write("/other", 2, 1);
    spoil(2);
    rig.passMs(601_000);
    rig.tick(); // server 2 is asked, and has answered
    delete("/file");
    run(5);
    assertThat(rig.repair.status().getWrongCopies()).isZero();
  }

  @Test
  void shouldGoOnWithAServerThatIsBack() throws Exception {
    lead(2, 2); // nobody else can have its copies
    write("/file", 2, 2);
    int other = serversOf(dataSlab()).get(1);
    servers.stop(other);
    sleep(601);
    run(200);
    assertThat(servers.verified).isEqualTo(2);
    servers.start(other);
    run(200);
    assertThat(servers.verified).isEqualTo(4);
    assertThat(rig.repair.status().getWrongCopies()).isZero();
  }
}
