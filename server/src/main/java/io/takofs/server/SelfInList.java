package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds this server in the list of the cluster's servers: by its name, else by an address that the
 * machine has.
 *
 * <p>Thread rule: one thread, which waits while names are looked up.
 */
final class SelfInList {
  private final List<String> list;
  private final String host;
  private final int port;
  private final Names names;
  private final List<String> unknown = new ArrayList<>();

  /** Looks up the address of a host. */
  interface Names {
    InetAddress of(String host) throws UnknownHostException;
  }

  /**
   * @param list as {@link ServerList#parse} gives it, not empty
   * @param host that this server listens at
   */
  SelfInList(List<String> list, String host, int port, Names names) {
    this.list = list;
    this.host = host;
    this.port = port;
    this.names = names;
  }

  /**
   * The element that is this server.
   *
   * @throws TakoException INVALID_ARGUMENT when there is none, or another one is this server, too,
   *     by another name
   */
  String find() throws IOException {
    String self = byName();
    if (self == null) {
      self = byAddress();
    }
    checkOnce(self);
    return self;
  }

  /** Both names would be servers and peers of the catalog, with one process for the two. */
  private void checkOnce(String self) throws TakoException {
    List<String> names = list.stream().filter(server -> isSame(server, self)).toList();
    if (names.size() > 1) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s (%s) has this server twice, as %s and as %s: name it once"
              .formatted(
                  ConfigKeys.CLUSTER_SERVERS, String.join(",", list), names.get(0), names.get(1)));
    }
  }

  private String byName() {
    return list.stream()
        .filter(server -> ServerList.port(server) == port)
        .filter(server -> ServerList.host(server).equalsIgnoreCase(host))
        .findFirst()
        .orElse(null);
  }

  private String byAddress() throws IOException {
    for (String server : list) {
      if (ServerList.port(server) == port) {
        InetAddress address = lookUp(server);
        if (address != null && isOfThisMachine(address) && mayBe(address)) {
          return server;
        }
      }
    }
    throw new TakoException(
        Status.INVALID_ARGUMENT,
        "%s (%s) has no server at port %d of this machine%s: name this server there by a host name or an address that this machine has, and by its %s"
            .formatted(
                ConfigKeys.CLUSTER_SERVERS,
                String.join(",", list),
                port,
                unknown.isEmpty() ? "" : " (no address is known of " + unknown + ")",
                ConfigKeys.SERVER_PORT));
  }

  /** Several servers of one machine may have a loopback address each, and the same port. */
  private boolean mayBe(InetAddress address) {
    try {
      InetAddress own = names.of(host);
      boolean areBothLoopback = own.isLoopbackAddress() && address.isLoopbackAddress();
      return !areBothLoopback || own.equals(address);
    } catch (UnknownHostException e) {
      return true; // listening there will say so
    }
  }

  private static boolean isOfThisMachine(InetAddress address) throws IOException {
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
  }

  private boolean isSame(String server, String self) {
    if (server.equals(self)) {
      return true;
    }
    if (ServerList.port(server) != port) {
      return false;
    }
    InetAddress address = lookUp(server);
    return address != null && address.equals(lookUp(self));
  }

  /** The address of an element's host; null when nobody knows it. */
  private InetAddress lookUp(String server) {
    String name = ServerList.host(server);
    try {
      return names.of(name);
    } catch (UnknownHostException e) {
      unknown.add(name);
      return null;
    }
  }
}
