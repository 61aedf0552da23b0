package io.takofs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class RefusalTest {
  @Test
  void shouldCarryStatusAndReason() {
    TakoException refused =
        Refusal.exception(
            "host:1", Refusal.text(new TakoException(Status.VERSION_MISMATCH, "a: newer")));
    assertThat(refused.status()).isEqualTo(Status.VERSION_MISMATCH);
    assertThat(refused).hasMessage("host:1 refused: a: newer");
  }

  @Test
  void shouldTakeWhatHasNoStatusAsUnavailable() {
    assertThat(Refusal.exception("h", Refusal.text(new IOException("busy"))).status())
        .isEqualTo(Status.UNAVAILABLE);
    for (String text : new String[] {"busy: later", "OK: fine", "UNRECOGNIZED: x", "", ": x"}) {
      TakoException refused = Refusal.exception("h", text);
      assertThat(refused.status()).as(text).isEqualTo(Status.UNAVAILABLE);
      assertThat(refused).hasMessage("h refused: " + text);
    }
  }
}
