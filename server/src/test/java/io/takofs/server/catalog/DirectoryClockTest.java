package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.proto.ServerEntry;
import io.takofs.server.ManualClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share a directory, one of which has a clock that is a year ahead. */
class DirectoryClockTest {
  private static final Duration TTL = Duration.ofHours(1);
  private static final Duration YEAR = Duration.ofDays(365);

  @TempDir private Path temporary;

  private final ManualClock ahead =
      new ManualClock(Clock.SYSTEM.currentTimeMillis() + YEAR.toMillis());
  private Path directory;

  @BeforeEach
  void chooseDirectory() {
    directory = temporary.resolve("catalog");
  }

  private ConfigStore store(Clock machine) {
    return new FileConfigStore(
        directory.resolve("catalog"), new DirectoryClock(directory, machine));
  }

  private static final class Self implements Membership.Self {
    private final String host;

    Self(String host) {
      this.host = host;
    }

    @Override
    public Registration registration() {
      ServerEntry entry =
          ServerEntry.newBuilder().setPoolId(host.hashCode()).setHost(host).setEpoch(1).build();
      return new Registration(0, 0, entry);
    }

    @Override
    public void joined(long clusterId, int serverId) {}

    @Override
    public void keep(CatalogState copy) {}

    @Override
    public CatalogState kept() {
      return new CatalogState();
    }
  }

  private Membership join(String host, Clock machine) {
    Membership.Settings settings =
        new Membership.Settings("bay", host.equals("one"), "one,two", Duration.ofMinutes(1), TTL);
    Membership member = new Membership(settings, new Self(host), store(machine), machine);
    member.tick();
    return member;
  }

  @Test
  void shouldEndNoSessionBecauseAnotherMachinesClockIsWrong() throws Exception {
    ConfigStore right = store(Clock.SYSTEM);
    long version = right.compareAndSet("session/1", ConfigStore.ABSENT, new byte[1], TTL);
    ConfigStore wrong = store(ahead);
    assertThat(wrong.get("session/1").isPresent()).isTrue();
    assertThat(wrong.compareAndSet("other", ConfigStore.ABSENT, new byte[1])).isPositive();
    assertThat(right.renew("session/1", version)).isTrue();
    assertThat(right.currentTimeMillis() - Clock.SYSTEM.currentTimeMillis())
        .isBetween(-TTL.toMillis(), TTL.toMillis());
  }

  @Test
  void shouldRefuseAServerWhoseClockIsFarOff() {
    assertThat(join("one", Clock.SYSTEM).serverId()).isEqualTo(1);
    Membership two = join("two", ahead);
    assertThat(two.serverId()).isZero();
    assertThat(two.problem().orElse("")).contains("this server's clock says", "set it right");
  }

  @Test
  void shouldGoOnByTheMachineBetweenTwoLooksAtTheDirectory() throws Exception {
    DirectoryClock clock = new DirectoryClock(directory, ahead);
    assertThat(clock.currentTimeMillis()).as("no directory").isEqualTo(ahead.currentTimeMillis());
    Files.createDirectory(directory);
    long begin = clock.currentTimeMillis();
    assertThat(begin).isLessThan(ahead.currentTimeMillis() - TTL.toMillis());
    ahead.advanceMillis(1500);
    assertThat(clock.currentTimeMillis()).isEqualTo(begin + 1500);
    Files.delete(directory.resolve("time"));
    Files.delete(directory);
    ahead.advance(Duration.ofMinutes(5));
    assertThat(clock.currentTimeMillis()).isEqualTo(begin + 301_500);
  }
}
