package io.takofs.transport.verbs;

import io.takofs.jni.VerbsCore;
import io.takofs.jni.VerbsLibrary;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Diagnosis of this process's verbs, for people who want to know which it has, or why it has none.
 *
 * <p>Thread rule: any thread; nothing is kept open.
 */
public final class VerbsDiagnosis {
  private VerbsDiagnosis() {}

  /**
   * A port of a device.
   *
   * @param addresses of this host that connections through it come to; none unless it is active
   */
  public record Port(DeviceFacts facts, List<InetAddress> addresses) {}

  /** Why the libraries that verbs need could not be loaded; empty if they were. */
  public static Optional<String> libraryCause() {
    return VerbsCore.unavailabilityCause().or(VerbsLibrary::unavailabilityCause);
  }

  /**
   * Every port of every device, whether it is usable or not. Needs the libraries.
   *
   * @throws IOException when a device cannot be asked, as without the right to open it
   */
  public static List<Port> ports() throws IOException {
    List<Port> ports = new ArrayList<>();
    for (DeviceFacts facts : VerbsControl.devices()) {
      ports.add(new Port(facts, new ArrayList<>()));
    }
    for (InetAddress address : VerbsControl.localAddresses()) {
      portOf(address)
          .flatMap(
              reached -> ports.stream().filter(port -> isSame(port.facts(), reached)).findAny())
          .ifPresent(port -> port.addresses().add(address));
    }
    return ports;
  }

  private static boolean isSame(DeviceFacts one, DeviceFacts other) {
    return one.device().equals(other.device()) && one.port() == other.port();
  }

  /** Empty where no device has the address, or its port is not active. */
  private static Optional<DeviceFacts> portOf(InetAddress address) {
    try (VerbsControl control = VerbsControl.open(Optional.of(address))) {
      return Optional.of(control.facts());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Tries to register one huge page.
   *
   * @param address of the device
   * @param length bytes of a huge page; one must be free
   * @throws IOException saying why it was not possible
   */
  public static void tryHugePage(InetAddress address, long length) throws IOException {
    try (VerbsControl control = VerbsControl.open(Optional.of(address))) {
      control.tryHugePage(length);
    }
  }
}
