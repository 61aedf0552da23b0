package io.takofs.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lists of servers in configurations: {@code host:port,host:port}. */
public final class ServerList {
  /** The form of a list, in words for people. */
  static final String ALLOWED = "host:port,host:port (the port is 7420 where it is left out)";

  private static final int PORT_MAX = 65535;

  private ServerList() {}

  /**
   * The servers of {@code text}, in its order, hosts in lower case, ports always there; none when
   * it is blank.
   *
   * @throws IllegalArgumentException when an element is no host and port, or there twice, or when
   *     there are commas only
   */
  public static List<String> parse(String text) {
    List<String> servers = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      String server = each.strip();
      if (server.isEmpty()) {
        continue;
      }
      String canonical = canonical(server);
      if (servers.contains(canonical)) {
        throw new IllegalArgumentException(canonical + " is there twice");
      }
      servers.add(canonical);
    }
    if (servers.isEmpty() && !text.isBlank()) {
      throw new IllegalArgumentException("it has commas and names no server");
    }
    return servers;
  }

  private static String canonical(String server) {
    int colon = server.lastIndexOf(':');
    boolean hasPort = colon > server.lastIndexOf(']');
    String host = (hasPort ? server.substring(0, colon) : server).toLowerCase(Locale.ROOT);
    int port = hasPort ? port(server, colon + 1) : ConfigKeys.SERVER_PORT.defaultValue();
    if (host.isEmpty() || !host.matches("[a-z0-9._-]+|\\[[0-9a-f:.]+\\]")) {
      throw new IllegalArgumentException("'" + server + "' is neither host:port nor a host");
    }
    return host + ":" + port;
  }

  private static int port(String server, int begin) {
    int port = -1;
    try {
      port = Integer.parseInt(server.substring(begin));
    } catch (NumberFormatException e) {
      // The message below says what is wrong.
    }
    if (port < 1 || port > PORT_MAX) {
      throw new IllegalArgumentException("'" + server + "' has no port from 1 to " + PORT_MAX);
    }
    return port;
  }

  /** An element for a server: {@code host:port}, with an IPv6 address in brackets. */
  public static String address(String host, int port) {
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bare ? "[" + host + "]" : host) + ":" + port;
  }

  /** The host of an element of {@link #parse}. */
  public static String host(String server) {
    return server.substring(0, server.lastIndexOf(':'));
  }

  /** The port of an element of {@link #parse}. */
  public static int port(String server) {
    return Integer.parseInt(server.substring(server.lastIndexOf(':') + 1));
  }
}
