package io.takofs.server.namespace.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdsTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 77, Integer.MAX_VALUE, -1})
  void shouldKeepTheIdsOfServersFromSessions(int server) {
    assertThat(Ids.isReserved(Ids.ofServer(server))).isTrue();
  }

  @Test
  void shouldLeaveAllOthersToSessions() {
    assertThat(Ids.isReserved(0)).isTrue();
    assertThat(Ids.isReserved(1)).isFalse();
    assertThat(Ids.isReserved(-1)).isFalse();
    assertThat(Ids.isReserved(Long.MIN_VALUE | 1L << 32)).isFalse();
  }
}
