package io.takofs.server.report;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The host of an address that people and programs connect to, as URIs have it. */
public final class HostText {
  private HostText() {}

  /**
   * The address that a server listens at; where that means all of the machine, the machine's name,
   * because nobody else can connect to such an address. An IPv6 address is in brackets.
   */
  public static String of(InetAddress bound) {
    if (bound.isAnyLocalAddress()) {
      try {
        return of(bound, InetAddress.getLocalHost().getHostName());
      } catch (UnknownHostException e) {
        return ofAddress(bound); // a machine whose name nobody knows
      }
    }
    return ofAddress(bound);
  }

  /** As {@link #of(InetAddress)} of an address that means all, on a machine of this name. */
  static String of(InetAddress bound, String machine) {
    return machine.matches("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?") ? machine : ofAddress(bound);
  }

  private static String ofAddress(InetAddress address) {
    String text = address.getHostAddress();
    return text.indexOf(':') >= 0 ? "[" + text + "]" : text;
  }
}
