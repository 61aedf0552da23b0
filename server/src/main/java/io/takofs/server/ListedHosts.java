package io.takofs.server;

import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;

/**
 * The addresses of the hosts in the list of the cluster's servers, as they were at the start. They
 * are looked up at a time, because a name service that is down answers each question late.
 *
 * <p>Thread rule: any thread.
 */
final class ListedHosts {
  private static final int THREADS = 32;

  private final List<String> list;
  private final SelfInList.Names names;
  private final Map<String, Optional<InetAddress>> addresses = new LinkedHashMap<>();

  /**
   * Looks the hosts up; waits for that.
   *
   * @param list as {@link ServerList#parse} gives it
   */
  ListedHosts(List<String> list, SelfInList.Names names) {
    this.list = list;
    this.names = names;
    ExecutorService threads = DaemonThreads.create("tako-listed-hosts", THREADS, list.size());
    Map<String, CompletableFuture<Optional<InetAddress>>> asked = new LinkedHashMap<>();
    for (String server : list) {
      asked.computeIfAbsent(
          ServerList.host(server),
          host -> CompletableFuture.supplyAsync(() -> lookUp(host, names), threads));
    }
    asked.forEach((host, address) -> addresses.put(host, address.join()));
    threads.shutdown();
  }

  private static Optional<InetAddress> lookUp(String host, SelfInList.Names names) {
    try {
      return Optional.of(names.of(host));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  /** The address of a host of the list, or of another one, which is looked up now. */
  InetAddress of(String host) throws UnknownHostException {
    Optional<InetAddress> listed = addresses.get(host);
    return listed == null
        ? names.of(host)
        : listed.orElseThrow(() -> new UnknownHostException(host));
  }

  /** The warning that names hosts without an address; empty when all have one. */
  Optional<String> warning() {
    List<String> unknown =
        list.stream().filter(server -> addresses.get(ServerList.host(server)).isEmpty()).toList();
    return unknown.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s has %s, of which the host is unknown: this server goes on without it, and looks the name up again when it calls it; correct %s, or the name service (DNS)"
                .formatted(
                    ConfigKeys.CLUSTER_SERVERS,
                    String.join(",", unknown),
                    ConfigKeys.CLUSTER_SERVERS));
  }
}
