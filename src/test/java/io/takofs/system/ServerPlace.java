package io.takofs.system;

import java.util.List;

/**
 * Where a server of a cluster runs.
 *
 * @param host address on which it listens
 * @param port on which it listens; no other server of the cluster has the same
 * @param before words of a command that runs the server there; none for this machine
 */
record ServerPlace(String host, int port, List<String> before) {
  String address() {
    return host + ":" + port;
  }
}
