package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.catalog.ConfigStore.Value;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What every store does. */
public abstract class ConfigStoreTests {
  protected static final Duration TTL = Duration.ofSeconds(2);

  protected abstract ConfigStore store() throws Exception;

  /** Lets time pass, at least so long. */
  protected abstract void pass(Duration time) throws Exception;

  protected static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void shouldSetWhatHasTheExpectedVersionOnly() throws Exception {
    ConfigStore store = store();
    assertThat(store.get("a").isPresent()).isFalse();
    assertThat(store.compareAndSet("a", 7, bytes(1))).isEqualTo(ConfigStore.LOST);
    long first = store.compareAndSet("a", ConfigStore.ABSENT, bytes(1));
    assertThat(first).isPositive();
    assertThat(store.compareAndSet("a", ConfigStore.ABSENT, bytes(2))).isEqualTo(ConfigStore.LOST);
    long second = store.compareAndSet("a", first, bytes(3));
    assertThat(second).isGreaterThan(first);
    assertThat(store.compareAndSet("a", first, bytes(4))).isEqualTo(ConfigStore.LOST);
    Value value = store.get("a");
    assertThat(store.values()).containsOnlyKeys("a");
    assertThat(store.values().get("a").bytes()).isEqualTo(bytes(3));
    assertThat(value.version()).isEqualTo(second);
    assertThat(value.bytes()).isEqualTo(bytes(3));
  }

  @Test
  void shouldNeverGiveAVersionTwice() throws Exception {
    ConfigStore store = store();
    long first = store.compareAndSet("b", ConfigStore.ABSENT, bytes(1));
    assertThat(store.remove("b", first + 1)).isFalse();
    assertThat(store.remove("b", first)).isTrue();
    assertThat(store.get("b")).isEqualTo(Value.NONE);
    assertThat(store.compareAndSet("b", ConfigStore.ABSENT, bytes(1))).isGreaterThan(first);
  }

  @Test
  void shouldKeepALeaseWhileItIsRenewed() throws Exception {
    ConfigStore store = store();
    long version = store.compareAndSet("c", ConfigStore.ABSENT, bytes(1), TTL);
    for (int i = 0; i < 4; i++) {
      pass(TTL.dividedBy(2));
      assertThat(store.renew("c", version)).isTrue();
      assertThat(store.get("c").version()).isEqualTo(version);
    }
    pass(TTL.multipliedBy(2));
    assertThat(store.get("c").isPresent()).isFalse();
    assertThat(store.renew("c", version)).isFalse();
    assertThat(store.compareAndSet("c", ConfigStore.ABSENT, bytes(2))).isGreaterThan(version);
  }
}
