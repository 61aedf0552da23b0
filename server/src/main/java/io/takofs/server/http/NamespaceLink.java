package io.takofs.server.http;

import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import java.util.Optional;

/** A link to the server with the namespace, for the pages of servers without it. */
final class NamespaceLink {
  private NamespaceLink() {}

  /**
   * A cell that leads to a page of the server with the namespace; empty when that is the one whose
   * pages these are, or nobody knows.
   *
   * @param path of the page
   */
  static Optional<Html.Link> elsewhere(ClusterStatus now, String path) {
    if (now.getLeader() == now.getServer()) {
      return Optional.empty();
    }
    return now.getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(entry -> entry.getId() == now.getLeader())
        .filter(entry -> Html.isPageAddress(entry.getHttp()))
        .findFirst()
        .map(entry -> new Html.Link(name(entry), entry.getHttp().replaceAll("/$", "") + path));
  }

  private static String name(ServerEntry entry) {
    return "server " + entry.getId() + " at " + entry.getHost() + ":" + entry.getPort();
  }
}
