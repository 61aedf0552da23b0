package io.takofs.server;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The addresses of the servers' hosts, as they were looked up last: a query waits for no name
 * service.
 *
 * <p>Thread rule: any thread; {@link #refresh} on one that may wait.
 */
final class HostAddresses {
  private final Resolver resolver;
  private volatile Map<String, List<String>> known = Map.of();

  /** Finds the addresses of a host. */
  @FunctionalInterface
  interface Resolver {
    InetAddress[] addresses(String host) throws IOException;
  }

  HostAddresses(Resolver resolver) {
    this.resolver = resolver;
  }

  /** Looks up the hosts of {@code map}; one that cannot be found has the addresses that it had. */
  void refresh(ClusterMap map) {
    Map<String, List<String>> next = new HashMap<>();
    for (ServerEntry server : map.getServersList()) {
      String host = server.getHost();
      try {
        next.put(
            host, Stream.of(resolver.addresses(host)).map(InetAddress::getHostAddress).toList());
      } catch (IOException e) {
        next.put(host, known.getOrDefault(host, List.of()));
      }
    }
    known = Map.copyOf(next);
  }

  /** The addresses of {@code host} in digits; none before it was looked up. */
  List<String> of(String host) {
    return known.getOrDefault(host, List.of());
  }
}
