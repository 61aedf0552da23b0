package io.takofs.system;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Clients that find any of a cluster's servers, whichever leads. */
final class ClusterClients {
  private static final URI CLUSTER = URI.create("tako://bay");

  private ClusterClients() {}

  /** A client over one transport, with these settings besides. */
  static TakoClient connect(ServerCluster cluster, String transport, String... keysAndValues)
      throws IOException {
    List<String> all = new ArrayList<>(List.of(keysAndValues));
    all.add("fs.tako.cluster." + CLUSTER.getAuthority() + ".servers");
    all.add(
        cluster.servers().stream()
            .map(server -> server.uri().getAuthority())
            .collect(Collectors.joining(",")));
    return Clients.connect(CLUSTER, transport, all.toArray(String[]::new));
  }
}
