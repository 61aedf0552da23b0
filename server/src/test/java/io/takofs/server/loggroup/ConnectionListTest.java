package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.server.report.Connections;
import org.junit.jupiter.api.Test;

class ConnectionListTest {
  private static ConnectionStatus connection(String transport, int nameBytes) {
    return ConnectionStatus.newBuilder()
        .setClientName("n".repeat(nameBytes))
        .setUser("u".repeat(nameBytes))
        .setTransport(transport)
        .setRemote("127.0.0.1:40000")
        .setCalls(Long.MAX_VALUE)
        .build();
  }

  @Test
  void shouldTellOfAsManyAsFitAndCountTheOthers() {
    ServerStatus.Builder status = ServerStatus.newBuilder().setVersion("v".repeat(10_000));
    ConnectionList connections = new ConnectionList(status);
    for (int i = 0; i < 200; i++) {
      connections.add(connection("tcp", Layout.CLIENT_NAME_MAX));
      connections.add(connection("shm", Layout.CLIENT_NAME_MAX));
    }
    assertThat(status.getConnectionsCount()).isGreaterThan(50);
    assertThat(status.getConnectionsLeftOutOrDefault("tcp", 0)).isGreaterThan(100);
    assertThat(status.getConnectionsLeftOutOrDefault("shm", 0)).isGreaterThan(100);
    assertThat(Connections.count(status.build())).isEqualTo(400);
    // The additions of the transports fit, too.
    status.addTransports(
        TransportStatus.newBuilder()
            .setTransport("t".repeat(ConnectionList.TRANSPORTS_BYTES_MAX - 100)));
    assertThat(Reply.newBuilder().setServerStatus(status).build().getSerializedSize())
        .isLessThanOrEqualTo(Layout.RPC_REPLY_SLOT_SIZE - Layout.RPC_HEADER_SIZE);
  }

  @Test
  void shouldListAllOfThemWhenTheyFit() {
    ServerStatus.Builder status = ServerStatus.newBuilder();
    ConnectionList connections = new ConnectionList(status);
    for (int i = 0; i < 300; i++) {
      connections.add(connection("tcp", 20));
    }
    assertThat(status.getConnectionsCount()).isEqualTo(300);
    assertThat(Connections.leftOut(status.build())).isZero();
  }
}
