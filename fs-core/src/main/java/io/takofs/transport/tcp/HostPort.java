package io.takofs.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Endpoints of the tcp transport: {@code host:port}, an IPv6 address in brackets. */
final class HostPort {
  private static final int PORT_MAX = 65535;

  private HostPort() {}

  /**
   * Resolves an endpoint.
   *
   * @throws UnknownHostException when its host has no address
   * @throws IOException when it is no endpoint; both name it
   */
  static InetSocketAddress parse(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    if (colon < 1) {
      throw new IOException("'" + endpoint + "' is no tcp endpoint: host:port is expected");
    }
    String host = host(endpoint);
    int port;
    try {
      port = Integer.parseInt(endpoint.substring(colon + 1));
    } catch (NumberFormatException e) {
      throw new IOException("'" + endpoint + "' is no tcp endpoint: the port is not a number", e);
    }
    if (port < 0 || port > PORT_MAX) {
      throw new IOException(
          "'" + endpoint + "' is no tcp endpoint: the port is not within 0 to " + PORT_MAX);
    }
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new UnknownHostException(
          "unknown host '" + host + "': correct the name, or make it known to this machine (DNS)");
    }
    return address;
  }

  /** The host of an endpoint, without brackets. */
  static String host(String endpoint) {
    String host = endpoint.substring(0, endpoint.lastIndexOf(':'));
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  static String format(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
