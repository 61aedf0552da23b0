package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileConfigStoreTest extends ConfigStoreTests {
  private final ManualClock clock = new ManualClock();

  @TempDir private Path directory;

  @Override
  protected ConfigStore store() {
    return new FileConfigStore(file(), clock);
  }

  private Path file() {
    return directory.resolve("pool/catalog");
  }

  @Override
  protected void pass(Duration time) {
    clock.advance(time);
  }

  @Test
  void shouldSurviveItsProcess() throws Exception {
    long version = store().compareAndSet("a", ConfigStore.ABSENT, bytes(1, 2));
    assertThat(store().get("a").bytes()).isEqualTo(bytes(1, 2));
    assertThat(store().compareAndSet("a", version, bytes(3))).isGreaterThan(version);
  }

  @Test
  void shouldHaveTheFormerOrTheNewValueAfterADeathAtEachStep() throws Exception {
    List<String> steps = new ArrayList<>();
    new FileConfigStore(directory.resolve("steps"), clock, steps::add)
        .compareAndSet("a", ConfigStore.ABSENT, bytes(9));
    assertThat(steps).hasSizeGreaterThan(4);
    long version = store().compareAndSet("a", ConfigStore.ABSENT, bytes(0));
    int changed = 0;
    for (int i = 0; i < steps.size(); i++) {
      String last = steps.get(i);
      ConfigStore dying =
          new FileConfigStore(
              file(),
              clock,
              step -> {
                if (step.equals(last)) {
                  throw new IOException("killed");
                }
              });
      byte[] former = store().get("a").bytes();
      byte[] next = bytes(i + 1);
      Throwable death =
          catchThrowable(() -> dying.compareAndSet("a", store().get("a").version(), next));
      assertThat(death).hasMessageContaining("killed");
      byte[] found = store().get("a").bytes();
      assertThat(found).isIn(former, next);
      changed += found[0] == next[0] ? 1 : 0;
      // The next process changes it as if nothing had been.
      version = store().compareAndSet("a", store().get("a").version(), bytes(100 + i));
      assertThat(version).isPositive();
      assertThat(store().get("a").bytes()).isEqualTo(bytes(100 + i));
    }
    assertThat(changed).isEqualTo(2); // after the move
  }

  @Test
  void shouldRefuseADamagedFile() throws Exception {
    store().compareAndSet("a", ConfigStore.ABSENT, bytes(1, 2, 3));
    byte[] good = Files.readAllBytes(file());
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 4;
      Files.write(file(), bad);
      assertCorrupt();
    }
    Files.write(file(), new byte[0]);
    assertCorrupt();
  }

  private void assertCorrupt() {
    Throwable thrown = catchThrowable(() -> store().get("a"));
    assertThat(thrown).isInstanceOf(TakoException.class).hasMessageContaining(file().toString());
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.CORRUPT);
  }

  @Test
  void shouldLoseNoChangeOfManyThatRace() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        tasks.add(this::increments);
      }
      for (Future<Integer> each : threads.invokeAll(tasks)) {
        assertThat(each.get()).isEqualTo(10);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(store().get("n").bytes()).isEqualTo(bytes(40));
  }

  private int increments() throws TakoException {
    ConfigStore store = store();
    int done = 0;
    while (done < 10) {
      ConfigStore.Value value = store.get("n");
      int next = value.isPresent() ? value.bytes()[0] + 1 : 1;
      done += store.compareAndSet("n", value.version(), bytes(next)) == ConfigStore.LOST ? 0 : 1;
    }
    return done;
  }
}
