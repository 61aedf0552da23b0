package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ListedHostsTest {
  private static InetAddress lookUp(String host) throws UnknownHostException {
    if (host.startsWith("no")) {
      throw new UnknownHostException(host);
    }
    return InetAddress.getByAddress(host, new byte[] {127, 0, 0, 1});
  }

  @Test
  void shouldNameTheServersOfUnknownHosts() throws Exception {
    ListedHosts hosts =
        new ListedHosts(
            List.of("here:1", "nowhere:1", "nowhere:2", "no:1"), ListedHostsTest::lookUp);
    assertThat(hosts.of("here").isLoopbackAddress()).isTrue();
    assertThatThrownBy(() -> hosts.of("nowhere")).hasMessage("nowhere");
    assertThat(hosts.warning().orElseThrow())
        .contains("fs.tako.cluster.servers has nowhere:1,nowhere:2,no:1, of which the host is")
        .contains("correct fs.tako.cluster.servers, or the name service");
  }

  @Test
  void shouldSayNothingWhenAllAreKnown() {
    assertThat(new ListedHosts(List.of("here:1"), ListedHostsTest::lookUp).warning()).isEmpty();
  }

  /** A name service that is down is waited for once, not for each host. */
  @Test
  void shouldLookHostsUpAtATime() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    ListedHosts hosts =
        new ListedHosts(
            List.of("here:1", "there:1"),
            host -> {
              both.countDown();
              return await(both) ? lookUp(host) : lookUp("nobody else asks");
            });
    assertThat(hosts.warning()).isEmpty();
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      return false;
    }
  }
}
