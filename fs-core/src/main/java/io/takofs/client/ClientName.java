package io.takofs.client;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** What this process is called in the server's status: {@code host/pid}. */
final class ClientName {
  private ClientName() {}

  static String get() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      // A host that does not know its own name is still a fine client.
      host = "localhost";
    }
    return host + "/" + ProcessHandle.current().pid();
  }
}
