package io.takofs.sim.log;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.server.log.GroupConfig;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each violation is found after steps in which nothing changed, and after others. */
class LogInvariantsTest {
  private static final int STEPS = 3;

  private final StatedMember one = new StatedMember(1);
  private final StatedMember two = new StatedMember(2);
  private final LogHistory history = new LogHistory();
  private GroupConfig config = new GroupConfig(1, Set.of(1, 2), Set.of(), true);

  @Test
  void shouldLetLeadersFollowOneAnother() {
    LogInvariants invariants = begin(false);
    lead(one, 1);
    quiet(invariants);
    one.leadingTerm = 0;
    lead(two, 2);
    quiet(invariants);
    config = new GroupConfig(2, Set.of(1, 3), Set.of(1, 2), false);
    quiet(invariants);
    config = new GroupConfig(2, Set.of(1, 3), Set.of(1, 2), true);
    one.promisedTerm = 7;
    one.configEpoch = 2;
    quiet(invariants);
  }

  @Test
  void shouldFindTwoLeadersOfATerm() {
    LogInvariants invariants = begin(true);
    lead(one, 5);
    quiet(invariants);
    one.leadingTerm = 0;
    quiet(invariants);
    lead(two, 5);
    finds(invariants, "I4: two lead in term 5");
  }

  @Test
  void shouldFindALeaderWithoutWhatWasAcknowledged() {
    LogInvariants invariants = begin(false);
    one.lastIndex = 10;
    lead(one, 2);
    quiet(invariants);
    history.acknowledge(11, 77, 2);
    quiet(invariants); // in its own term, and not in an earlier one
    lead(one, 3);
    finds(invariants, "I2: member 1");
  }

  @Test
  void shouldFindADamagedMemberThatBeginsToLead() {
    LogInvariants invariants = begin(false);
    two.sound = false;
    quiet(invariants);
    lead(two, 2);
    finds(invariants, "I11");
  }

  @Test
  void shouldFindEachPromiseThatIsTakenBack() {
    one.promisedTerm = 4;
    one.acceptedTerm = 3;
    one.configEpoch = 2;
    LogInvariants invariants = begin(false);
    one.promisedTerm = 3;
    finds(invariants, "I9: member 1");
    one.promisedTerm = 4;
    quiet(invariants);
    one.acceptedTerm = 2;
    finds(invariants, "I9: member 1");
    one.acceptedTerm = 3;
    quiet(invariants);
    one.configEpoch = 1;
    finds(invariants, "I9: member 1");
  }

  @Test
  void shouldFindAPromiseThatIsTakenBackOverARestart() {
    two.promisedTerm = 4;
    LogInvariants invariants = begin(false);
    two.alive = false;
    two.promisedTerm = 1;
    quiet(invariants);
    two.alive = true;
    finds(invariants, "I9: member 2");
  }

  @Test
  void shouldLetADamagedMemberAloneBeginAnew() {
    two.promisedTerm = 4;
    LogInvariants invariants = begin(false);
    two.sound = false;
    two.promisedTerm = 0;
    quiet(invariants);
    two.renewals++;
    two.sound = true;
    quiet(invariants);
    two.promisedTerm = 6;
    quiet(invariants);
    two.sound = false;
    two.promisedTerm = 0;
    quiet(invariants);
    two.sound = true;
    finds(invariants, "I9: member 2");
  }

  @Test
  void shouldFindALogOfATermThatWasNotPromised() {
    LogInvariants invariants = begin(true);
    two.promisedTerm = 4;
    quiet(invariants);
    two.acceptedTerm = 5;
    finds(invariants, "I4: a log of a term");
  }

  @Test
  void shouldFindChangesOfTheMembersThatMayNotFollow() {
    LogInvariants invariants = begin(false);
    config = new GroupConfig(3, Set.of(1, 3), Set.of(1, 2), true);
    finds(invariants, "I31");
    config = new GroupConfig(2, Set.of(1, 3), Set.of(1, 2), false);
    quiet(invariants);
    config = new GroupConfig(3, Set.of(1, 2), Set.of(1, 3), false);
    finds(invariants, "I31");
  }

  @Test
  void shouldFindAMemberThatHasGivenUpWhatItsCheckpointLacks() {
    LogInvariants invariants = begin(false);
    one.checkpointIndex = 20;
    one.trimmedIndex = 20;
    quiet(invariants);
    one.trimmedIndex = 21;
    one.hasCheckpoint = false;
    quiet(invariants);
    one.hasCheckpoint = true;
    finds(invariants, "I29: member 1 has given up entries up to 21");
  }

  private LogInvariants begin(boolean broken) {
    LogInvariants invariants = new LogInvariants(List.of(one, two), () -> config, history, broken);
    quiet(invariants);
    return invariants;
  }

  private static void lead(StatedMember member, long term) {
    member.promisedTerm = Math.max(member.promisedTerm, term);
    member.leadingTerm = term;
  }

  private static void quiet(LogInvariants invariants) {
    for (int i = 0; i < STEPS; i++) {
      assertThatCode(invariants::check).doesNotThrowAnyException();
    }
  }

  private static void finds(LogInvariants invariants, String what) {
    assertThatThrownBy(invariants::check)
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith(what);
  }

  private static final class StatedMember implements CheckedMember {
    private final int id;
    private boolean alive = true;
    private int renewals;
    private long leadingTerm;
    private long lastIndex;
    private long trimmedIndex;
    private long checkpointIndex;
    private boolean hasCheckpoint = true;
    private long promisedTerm;
    private long acceptedTerm;
    private long configEpoch;
    private boolean sound = true;

    StatedMember(int id) {
      this.id = id;
    }

    @Override
    public int id() {
      return id;
    }

    @Override
    public boolean isAlive() {
      return alive;
    }

    @Override
    public long leadingTerm() {
      return leadingTerm;
    }

    @Override
    public long lastIndex() {
      return lastIndex;
    }

    @Override
    public long trimmedIndex() {
      return trimmedIndex;
    }

    @Override
    public boolean hasCheckpoint() {
      return hasCheckpoint;
    }

    @Override
    public long checkpointIndex() {
      return checkpointIndex;
    }

    @Override
    public long promisedTerm() {
      return promisedTerm;
    }

    @Override
    public long acceptedTerm() {
      return acceptedTerm;
    }

    @Override
    public long configEpoch() {
      return configEpoch;
    }

    @Override
    public boolean isSound() {
      return sound;
    }

    @Override
    public int renewals() {
      return renewals;
    }
  }
}
