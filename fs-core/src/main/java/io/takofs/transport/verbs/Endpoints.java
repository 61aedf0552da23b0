package io.takofs.transport.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Endpoints of the verbs transport: {@code host:port}, an IPv6 address in brackets. */
final class Endpoints {
  private Endpoints() {}

  /**
   * Resolves an endpoint; one without a host is at {@code own}, an empty one at a free port there.
   *
   * @throws IOException naming the endpoint when it is none
   */
  static InetSocketAddress parse(String endpoint, InetAddress own) throws IOException {
    if (endpoint.isEmpty()) {
      return new InetSocketAddress(own, 0);
    }
    int colon = endpoint.lastIndexOf(':');
    try {
      String host = colon < 0 ? "" : endpoint.substring(0, colon);
      int port = Integer.parseInt(endpoint.substring(colon + 1));
      InetSocketAddress address =
          host.isEmpty()
              ? new InetSocketAddress(own, port)
              : new InetSocketAddress(withoutBrackets(host), port);
      if (!address.isUnresolved()) {
        return address;
      }
      throw new IOException(
          "unknown host '" + host + "': correct the name, or make it known to this machine (DNS)");
    } catch (IllegalArgumentException e) {
      throw new IOException("'" + endpoint + "' is no verbs endpoint: host:port is expected", e);
    }
  }

  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  static String format(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
  }
}
