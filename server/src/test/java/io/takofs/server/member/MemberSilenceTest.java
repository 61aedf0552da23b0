package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemberSilenceTest {
  private static final Set<Integer> MEMBERS = Set.of(1, 2, 3);

  private final Set<Integer> reached = new HashSet<>(Set.of(1, 2));
  private final MemberSilence silence = new MemberSilence(60);

  private void look(long now, Integer... learners) {
    silence.look(MEMBERS, Set.of(learners), reached::contains, now);
  }

  @Test
  void shouldCountForHowLongAMemberIsNotReached() {
    look(100);
    look(150);
    assertThat(silence.silentNs(3)).isEqualTo(50);
    assertThat(silence.silentNs(2)).isZero();
    reached.add(3);
    look(160);
    assertThat(silence.silentNs(3)).isZero();
    reached.remove(3);
    look(170);
    look(175);
    assertThat(silence.silentNs(3)).isEqualTo(5);
  }

  @Test
  void shouldPreferThoseThatFailedLongerAgo() {
    look(100, 4);
    look(159, 4);
    assertThat(silence.lastFailure(4)).as("there is time left").isZero();
    look(160, 4);
    assertThat(silence.lastFailure(4)).isEqualTo(1);
    look(161, 5);
    look(221, 5);
    assertThat(silence.lastFailure(5)).isEqualTo(2);
    silence.forget();
    assertThat(silence.lastFailure(5)).isZero();
  }

  /** Two that take a checkpoint over for longer than that would take turns for ever. */
  @Test
  void shouldGiveALearnerThatFailedTwiceTheTime() {
    look(100, 4);
    look(160, 4);
    look(160, 5);
    look(220, 5);
    look(220, 4);
    look(339, 4);
    assertThat(silence.lastFailure(4)).as("the second time lasts").isEqualTo(1);
    look(340, 4);
    assertThat(silence.lastFailure(4)).isEqualTo(2);
  }
}
