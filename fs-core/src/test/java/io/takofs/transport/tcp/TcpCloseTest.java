package io.takofs.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.RefusingAcceptor;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class TcpCloseTest {
  private static final int ROUNDS = 100;
  private static final int CLIENTS = 4;
  private static final int PATIENCE_MS = 5_000;

  /** A connect while the transport closes would wait for an answer that no thread gives. */
  @Test
  void shouldLeaveNoConnectionOpen() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
      Transport.Listener listener =
          transport.listen("127.0.0.1:0", new RefusingAcceptor("nobody is let in"));
      InetSocketAddress address = HostPort.parse(listener.endpoint());
      Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
      List<Thread> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Thread client = new Thread(() -> connectUntilRefused(address, sockets));
        client.start();
        clients.add(client);
      }
      while (sockets.size() < CLIENTS) {
        Thread.onSpinWait();
      }
      transport.close();
      for (Thread client : clients) {
        client.join();
      }
      for (Socket socket : sockets) {
        assertThat(isEnded(socket)).as("round %d", round).isTrue();
        socket.close();
      }
    }
  }

  private static void connectUntilRefused(InetSocketAddress address, Queue<Socket> sockets) {
    try {
      while (true) {
        sockets.add(new Socket(address.getAddress(), address.getPort()));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  /** Says something, as clients do: one that no listener ever took learns of the end by that. */
  private static boolean isEnded(Socket socket) throws IOException {
    socket.setSoTimeout(PATIENCE_MS);
    try {
      socket.getOutputStream().write(0);
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // reset
    }
  }
}
