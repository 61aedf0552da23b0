package io.takofs.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A way to a server for one TCP connection, on which what the client sends can be held back, as in
 * the buffers of a network or of a process that stands still.
 *
 * <p>Thread rule: any thread.
 */
final class HeldRelay implements AutoCloseable {
  private static final int CHUNK = 1 << 16;

  private final ServerSocket listening;
  private final String host;
  private final int port;
  private boolean held;
  private boolean holding;

  /** To the server at {@code endpoint}, {@code host:port}. */
  HeldRelay(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    host = endpoint.substring(0, colon);
    port = Integer.parseInt(endpoint.substring(colon + 1));
    listening = new ServerSocket(0, 1, InetAddress.getByName(host));
    start(this::accept);
  }

  String endpoint() {
    return host + ":" + listening.getLocalPort();
  }

  /** Keeps back what the client sends from now on. */
  synchronized void hold() {
    held = true;
  }

  /** Whether something is kept back. */
  synchronized boolean isHolding() {
    return holding;
  }

  /** Sends what was kept back, and returns when the server's socket has it or has refused it. */
  synchronized void release() throws InterruptedException {
    held = false;
    notifyAll();
    while (holding) {
      wait();
    }
  }

  /** What a thread of the relay does until a socket is closed. */
  @FunctionalInterface
  private interface Task {
    void run() throws IOException;
  }

  private static void start(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // One side has closed its socket, which ends the relay.
              }
            },
            "held-relay");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    Socket client = listening.accept();
    Socket server = new Socket(host, port);
    start(() -> copy(client, server, true));
    copy(server, client, false);
  }

  private void copy(Socket from, Socket to, boolean mayBeHeld) throws IOException {
    try (from;
        to) {
      byte[] chunk = new byte[CHUNK];
      int count = from.getInputStream().read(chunk);
      while (count >= 0) {
        try {
          if (mayBeHeld) {
            awaitRelease();
          }
          to.getOutputStream().write(chunk, 0, count);
        } finally {
          sent();
        }
        count = from.getInputStream().read(chunk);
      }
    }
  }

  private synchronized void awaitRelease() throws IOException {
    while (held) {
      holding = true;
      try {
        wait();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  private synchronized void sent() {
    if (!held) {
      holding = false;
      notifyAll();
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
