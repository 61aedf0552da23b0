package io.takofs.server.report;

import io.takofs.config.ServerList;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Where people and programs connect to a server, as URIs have it. */
public final class HostText {
  private HostText() {}

  /**
   * {@code host:port} of the address that a server listens at; where that means all of the machine,
   * the machine's name, because nobody else can connect to such an address.
   */
  public static String of(InetAddress bound, int port) {
    if (bound.isAnyLocalAddress()) {
      try {
        return of(bound, port, InetAddress.getLocalHost().getHostName());
      } catch (UnknownHostException e) {
        return ServerList.address(bound.getHostAddress(), port); // nobody knows the machine's name
      }
    }
    return ServerList.address(bound.getHostAddress(), port);
  }

  /** As {@link #of(InetAddress, int)} of an address that means all, on a machine of this name. */
  static String of(InetAddress bound, int port, String machine) {
    boolean isHost = machine.matches("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?");
    return ServerList.address(isHost ? machine : bound.getHostAddress(), port);
  }
}
