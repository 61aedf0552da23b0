package io.takofs.transport.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices and what is made on them, on a real RDMA device; bin/vm has one. */
@Tag("verbs")
class VerbsControlTest {
  private static final int MIB = 1 << 20;

  private VerbsControl control;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    control = VerbsControl.open(Optional.empty());
  }

  @AfterEach
  void close() {
    control.close();
  }

  @Test
  void shouldTellWhatTheDeviceCanDo() throws IOException {
    DeviceFacts facts = control.facts();
    System.out.println(facts);
    assertThat(facts.portState()).isEqualTo("ACTIVE");
    assertThat(facts.linkLayer()).isIn("Ethernet", "InfiniBand");
    assertThat(facts.activeMtu()).isIn(256, 512, 1024, 2048, 4096);
    assertThat(facts.gidIndex()).isNotNegative();
    assertThat(facts.maxQueuePairWork()).isGreaterThanOrEqualTo(64);
    assertThat(facts.maxScatterGather()).isGreaterThanOrEqualTo(2);
    assertThat(facts.maxInline()).isNotNegative();
    assertThat(facts.maxCompletions()).isGreaterThanOrEqualTo(64);
    assertThat(facts.maxRegionBytes()).isGreaterThanOrEqualTo(1L << 30);
    assertThat(facts.maxReads()).isPositive();
    assertThat(control.context()).isNotZero();
    assertThat(VerbsControl.devices()).contains(facts);
  }

  @Test
  void shouldReadWhatTheDriverCounts() {
    DeviceFacts facts = control.facts();
    assumeTrue(facts.device().startsWith("rxe"), "each driver has names of its own");
    assertThat(new DeviceCounters(facts).receiverNotReady())
        .containsOnlyKeys("rcvd_rnr_err", "retry_rnr_exceeded_err", "send_rnr_err");
  }

  @Test
  void shouldTellWhichAddressesLeadToAPort() throws IOException {
    assertThat(VerbsDiagnosis.ports())
        .anySatisfy(
            port -> {
              assertThat(port.facts()).isEqualTo(control.facts());
              assertThat(port.addresses()).contains(control.address());
            });
  }

  @Test
  void shouldOpenTheDeviceOfAnAddress() throws IOException {
    try (VerbsControl same = VerbsControl.open(Optional.of(control.address()))) {
      assertThat(same.facts()).isEqualTo(control.facts());
    }
  }

  @Test
  void shouldNameAnAddressThatNoDeviceHas() throws IOException {
    InetAddress foreign = InetAddress.getByName("192.0.2.1");
    assertThatThrownBy(() -> VerbsControl.open(Optional.of(foreign)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("192.0.2.1");
  }

  @Test
  void shouldRegisterMemory(@TempDir Path directory) throws IOException {
    VerbsDomain domain = control.allocateDomain();
    Path file = directory.resolve("memory");
    try (MappedMemory memory = MappedMemory.create(file, MIB)) {
      VerbsRegistration region =
          domain.register(
              memory.address(), MIB, VerbsControl.accessFlags(Access.REMOTE_READ_WRITE));
      VerbsRegistration other =
          domain.register(memory.address(), MIB, VerbsControl.accessFlags(Access.LOCAL));
      assertThat(region.address()).isEqualTo(memory.address());
      assertThat(region.length()).isEqualTo(MIB);
      assertThat(region.rkey()).isNotEqualTo(other.rkey());
      assertThat(region.pointer()).isNotZero().isNotEqualTo(other.pointer());
      assertThatThrownBy(domain::close)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("close what uses it first");
      region.close();
      other.close();
      region.close(); // harmless
    }
  }

  @Test
  void shouldSayHowMuchCouldNotBeRegistered() throws IOException {
    VerbsDomain domain = control.allocateDomain();
    assertThatThrownBy(() -> domain.register(4096, MIB, VerbsControl.accessFlags(Access.LOCAL)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(MIB + " bytes")
        .hasMessageContaining("ulimit -l");
  }

  @Test
  void shouldNeverRegisterMoreThanFitsAnInt() throws IOException {
    VerbsDomain domain = control.allocateDomain();
    assertThatThrownBy(() -> domain.register(4096, 1L << 32, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldNameTheLimitOfACompletionQueue() throws IOException {
    VerbsChannel channel = control.createChannel();
    assertThat(channel.fileDescriptor()).isPositive();
    int tooMany = control.facts().maxCompletions() + 1;
    assertThatThrownBy(() -> control.createCompletions(tooMany, channel))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("allows " + control.facts().maxCompletions());
  }

  @Test
  void shouldRefuseAddressesThatAreNotIpv4() throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getByAddress(new byte[16]), 0);
    assertThatThrownBy(() -> control.listen(address, null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("IPv4");
  }

  @Test
  void shouldLeaveNothingBehindThatWasNotClosed() throws Exception {
    String before = resources();
    Peer server = new Peer();
    Peer client = new Peer();
    VerbsListener listener = server.listen();
    client.resolve(listener.address()).connect("left".getBytes(UTF_8), Peer.TIMEOUT_NS);
    assertThat(server.nextHeard()).isEqualTo("request left");
    assertThat(resources()).isNotEqualTo(before);
    client.close();
    server.close();
    assertThat(resources()).isEqualTo(before);
  }

  /** Number of the kernel's objects of each kind on all devices. */
  static String resources() throws IOException, InterruptedException {
    Process process = new ProcessBuilder("rdma", "resource", "show").start();
    String shown = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isZero();
    return shown.strip();
  }
}
