package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.member.MemberChoice.Replacement;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplacementRequestTest {
  private static final Set<Integer> MEMBERS = Set.of(1, 2, 3);
  private static final Replacement REPLACEMENT = new Replacement(2, 4);
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private final ReplacementRequest request = new ReplacementRequest();

  @BeforeEach
  void set() {
    request.set(7, REPLACEMENT);
  }

  private Replacement get(long term, long nowNs) {
    return request.get(term, MEMBERS, nowNs);
  }

  @Test
  void shouldLastForAnHour() {
    assertThat(get(7, 5)).isEqualTo(REPLACEMENT);
    assertThat(get(7, 4 + HOUR_NS)).isEqualTo(REPLACEMENT);
    assertThat(get(7, 5 + HOUR_NS)).isNull();
    assertThat(get(7, 6 + HOUR_NS)).isNull();
  }

  @Test
  void shouldLastForAnotherHourWhenItIsAskedForAgain() {
    assertThat(get(7, 0)).isEqualTo(REPLACEMENT);
    request.set(7, REPLACEMENT);
    assertThat(get(7, HOUR_NS - 1)).isEqualTo(REPLACEMENT);
    assertThat(get(7, HOUR_NS + 1)).isEqualTo(REPLACEMENT);
  }

  /** Another member is replaced before: then the leader stands for election again. */
  @Test
  void shouldGoOnInTheNextTermOfTheSameLeader() {
    assertThat(get(7, 0)).isEqualTo(REPLACEMENT);
    assertThat(get(8, 0)).isEqualTo(REPLACEMENT);
    assertThat(get(9, 0)).isEqualTo(REPLACEMENT);
  }

  @Test
  void shouldEndWhenAnotherMemberMayHaveLed() {
    assertThat(get(9, 0)).isNull();
    assertThat(get(7, 0)).isNull();
  }

  @Test
  void shouldEndWhenThatMemberIsNoneOrTheOtherServerIsOne() {
    assertThat(request.get(7, Set.of(1, 3, 5), 0)).isNull();
    request.set(7, REPLACEMENT);
    assertThat(request.get(7, Set.of(1, 2, 4), 0)).isNull();
    assertThat(get(7, 0)).as("it has left").isNull();
  }
}
