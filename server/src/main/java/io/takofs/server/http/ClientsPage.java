package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.server.report.Connections;
import java.util.List;
import java.util.Map;

/** The page of connected clients and their transports. */
final class ClientsPage implements HtmlPage {
  private final StatusSource status;

  ClientsPage(StatusSource status) {
    this.status = status;
  }

  @Override
  public String title() {
    return "Clients";
  }

  @Override
  public boolean isOfNamespace() {
    return true;
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) throws TakoException {
    ServerStatus now = status.get();
    List<ConnectionStatus> connections = now.getConnectionsList();
    html.heading("Connected clients");
    if (connections.isEmpty()) {
      html.paragraph("Nobody is connected.");
      return 200;
    }
    html.table("Client", "User", "Transport", "From", "Calls");
    for (ConnectionStatus each : connections) {
      html.row(
          each.getClientName(),
          each.getUser(),
          each.getTransport(),
          each.getRemote(),
          each.getCalls());
    }
    html.endTable();
    if (Connections.leftOut(now) > 0) {
      html.paragraph("And " + Connections.leftOut(now) + " more.");
    }
    return 200;
  }
}
