package io.takofs.cli.doctor;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerEntry.State;
import io.takofs.proto.ServerHealth;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.report.Clusters;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;

/**
 * Looks whether this host reaches every server of a cluster, for file data is on all of them. Of a
 * server alone there is nothing to say.
 *
 * <p>Thread rule: one thread.
 */
public final class ClusterChecks {
  private static final int TIMEOUT_MS = 5000;

  private final Diagnosis diagnosis;

  /** Checks to come, which add to {@code diagnosis}. */
  public ClusterChecks(Diagnosis diagnosis) {
    this.diagnosis = diagnosis;
  }

  /**
   * Adds the servers of the cluster to {@code section}, a problem for each that should be there and
   * is not, and those that the cluster itself warns of.
   */
  public void run(ClusterStatus cluster, JsonObject section) {
    List<ServerHealth> servers = cluster.getServersList();
    cluster.getWarningsList().forEach(this::addWarning);
    if (servers.size() <= 1) {
      return;
    }
    JsonArray all = new JsonArray();
    for (ServerHealth each : servers) {
      ServerEntry entry = each.getEntry();
      String address = ClusterMaps.address(entry);
      JsonObject server = new JsonObject();
      server.addProperty("id", entry.getId());
      server.addProperty("address", address);
      server.addProperty("state", Clusters.state(entry));
      if (entry.getState() == State.UP || entry.getState() == State.DECOMMISSIONING) {
        server.addProperty("reached", isReached(entry));
      } else if (entry.getState() == State.LOST) {
        diagnosis.problem(
            "server %d at %s is lost: its pool is gone".formatted(entry.getId(), address),
            "when all copies are there again (tako repair), let the cluster forget it: tako cluster remove "
                + entry.getId());
      }
      all.add(server);
    }
    section.add("data_server", all);
  }

  /** A warning says what is wrong and, after a semicolon, what to do about it. */
  private void addWarning(String warning) {
    String[] parts = warning.split("; ", 2);
    diagnosis.problem(
        parts[0], parts.length == 2 ? parts[1] : "tako status shows the servers and their health");
  }

  private boolean isReached(ServerEntry entry) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(entry.getHost(), entry.getPort()), TIMEOUT_MS);
      return true;
    } catch (IOException e) {
      diagnosis.problem(
          "server %d at %s:%d cannot be reached from here: %s"
              .formatted(entry.getId(), entry.getHost(), entry.getPort(), e.getMessage()),
          "start it, or see that its name has an address here and that no firewall is between;"
              + " meanwhile other servers' copies are read, and files are written without it");
      return false;
    }
  }
}
