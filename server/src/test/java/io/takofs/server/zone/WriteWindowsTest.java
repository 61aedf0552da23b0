package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.server.extent.Location;
import io.takofs.transport.CompletionStatus;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WriteWindowsTest {
  private static final long FILE = 7;
  private static final Extent EXTENT =
      Extent.newBuilder().setOffset(1 << 20).setCapacity(Layout.UNIT_SIZE).build();
  private static final Location LOCATION = Location.of(EXTENT);

  private WindowedClients clients;
  private FakeDevice device;
  private WriteWindows windows;

  @BeforeEach
  void register() throws Exception {
    clients = new WindowedClients();
    device = clients.device;
    windows = clients.windows;
  }

  @AfterEach
  void unregister() {
    clients.close();
  }

  private FakeDevice.Pair connect(long clientId) throws Exception {
    return clients.connect(clientId, posted -> {});
  }

  /** An answer that waits. */
  private static final class Waiting {
    final ReplyGate gate = new ReplyGate();
    final AtomicBoolean sent = new AtomicBoolean();
  }

  private Waiting open(long clientId) {
    Waiting answer = new Waiting();
    windows.open(clientId, FILE, List.of(EXTENT), answer.gate);
    answer.gate.then(() -> answer.sent.set(true));
    answer.gate.release();
    return answer;
  }

  private int keyOf(long clientId) {
    return windows.withKeys(clientId, FILE, EXTENT).getRkey();
  }

  private void complete(FakeDevice.Pair pair) {
    windows.onCompletion(pair.pair(), pair.posted().remove(), CompletionStatus.SUCCESS);
  }

  @Test
  void shouldCallTheDeviceOnlyToPost() throws Exception {
    FakeDevice.Pair pair = connect(1);
    Waiting answer = open(1);
    assertThat(windows.isWritable(LOCATION)).isTrue();
    assertThat(device.windows).hasValue(0);
    assertThat(pair.binds()).hasValue(0);

    windows.post();
    assertThat(device.windows).hasValue(2);
    assertThat(pair.binds()).hasValue(2);
    assertThat(keyOf(1)).isZero();
    assertThat(answer.sent).isFalse();

    complete(pair);
    assertThat(answer.sent).isTrue();
    assertThat(answer.gate.failure()).isNull();
    assertThat(keyOf(1)).isNotZero();

    windows.close(1, FILE);
    assertThat(pair.posted()).isEmpty();
    assertThat(keyOf(1)).isZero();
    windows.post();
    assertThat(windows.isWritable(LOCATION)).isTrue();
    complete(pair);
    assertThat(windows.isWritable(LOCATION)).isFalse();
  }

  @Test
  void shouldGiveNoKeyOfWhatIsClosedBeforeItIsBound() throws Exception {
    FakeDevice.Pair pair = connect(1);
    Waiting answer = open(1);
    windows.close(1, FILE);
    windows.post();
    assertThat(pair.posted()).hasSize(2);
    complete(pair);
    assertThat(keyOf(1)).isZero();
    assertThat(windows.isWritable(LOCATION)).isTrue();
    assertThat(answer.sent).isFalse();
    complete(pair);
    assertThat(windows.isWritable(LOCATION)).isFalse();
    assertThat(answer.sent).isTrue();
  }

  @Test
  void shouldLetTheNextWaitUntilTheLastCannotWrite() throws Exception {
    FakeDevice.Pair last = connect(1);
    FakeDevice.Pair next = connect(2);
    open(1);
    windows.post();
    complete(last);
    Waiting answer = open(2);
    windows.post();
    complete(next);
    assertThat(answer.sent).isFalse();
    complete(last);
    assertThat(answer.sent).isTrue();
    assertThat(keyOf(2)).isNotZero();
  }

  @Test
  void shouldSayThatThereAreNoWindowsAndTryAgain() throws Exception {
    FakeDevice.Pair pair = connect(1);
    device.outOfWindows = true;
    Waiting answer = open(1);
    Waiting second = open(1);
    windows.close(1, FILE);
    windows.post();
    assertThat(answer.sent).isTrue();
    assertThat(answer.gate.failure()).contains("no window left");
    assertThat(second.gate.failure()).contains("no window left");
    assertThat(pair.posted()).isEmpty();
    assertThat(windows.isWritable(LOCATION)).isFalse();

    device.outOfWindows = false;
    open(1);
    windows.post();
    complete(pair);
    assertThat(keyOf(1)).isNotZero();
  }

  @Test
  void shouldUseWindowsAgain() throws Exception {
    FakeDevice.Pair pair = connect(1);
    for (int i = 0; i < 5; i++) {
      open(1);
      windows.post();
      complete(pair);
      windows.close(1, FILE);
      windows.post();
      complete(pair);
    }
    assertThat(device.windows).hasValue(2);
  }

  @Test
  void shouldEndThePairWhenItCannotPost() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    FakeDevice.Pair pair =
        clients.connect(
            1,
            posted -> {
              if (fails.get()) {
                throw new OutOfMemoryError("played");
              }
            });
    open(1);
    windows.post();
    complete(pair);
    assertThat(pair.revocations()).hasValue(0);
    fails.set(true);
    windows.close(1, FILE);
    windows.post();
    assertThat(pair.revocations()).hasValue(1);

    Waiting other = open(2);
    assertThat(other.sent).isFalse();
    windows.gone(pair.pair());
    assertThat(other.sent).isTrue();
  }

  @Test
  void shouldAskNothingOfAPairThatIsGone() throws Exception {
    FakeDevice.Pair pair = connect(1);
    Waiting answer = open(1);
    windows.gone(pair.pair());
    assertThat(answer.sent).isTrue();
    assertThat(windows.isWritable(LOCATION)).isFalse();
    windows.post();
    assertThat(pair.binds()).hasValue(0);
    assertThat(device.windows).hasValue(0);
  }
}
