package io.takofs.base;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Scanner;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;

/**
 * TCP ports for servers that start soon and that others must know before. They are below those that
 * the kernel gives to outgoing connections: a connection of any process could take one of these
 * before its server listens, or while it is away. They are even, because a server of Tako takes the
 * next one for its pages.
 *
 * <p>Thread rule: any thread.
 */
public final class FreePorts {
  private static final Path OUTGOING = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
  private static final int FIRST = 20_000; // Hadoop's daemons and HBase listen below
  private static final int ATTEMPTS = 100; // for each port

  private final int end; // exclusive; at most FIRST where the kernel gives nearly all of them away
  private final RandomGenerator random;

  /** Reads which ports the kernel gives to outgoing connections. */
  public FreePorts(RandomGenerator random) throws IOException {
    this(firstOutgoing(), random);
  }

  FreePorts(int end, RandomGenerator random) {
    this.end = end;
    this.random = random;
  }

  private static int firstOutgoing() throws IOException {
    try (Scanner range = new Scanner(OUTGOING, StandardCharsets.US_ASCII)) {
      return range.nextInt();
    }
  }

  /** As many different ports of the loopback, which nobody listens at now. */
  public List<Integer> onLoopback(int count) throws IOException {
    return at(Collections.nCopies(count, InetAddress.getLoopbackAddress()));
  }

  /**
   * A port at each of {@code hosts}, all different, which nobody listens at now.
   *
   * @throws IOException if one is not an address of this machine, or has no free port
   */
  public List<Integer> at(List<InetAddress> hosts) throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    try {
      for (InetAddress host : hosts) {
        held.add(listen(host, held));
      }
      return held.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : held) {
        socket.close();
      }
    }
  }

  private ServerSocket listen(InetAddress host, List<ServerSocket> held) throws IOException {
    IntPredicate isHeld = port -> held.stream().anyMatch(socket -> socket.getLocalPort() == port);
    for (int attempt = 0; attempt < ATTEMPTS && FIRST / 2 < end / 2; attempt++) {
      int port = 2 * random.nextInt(FIRST / 2, end / 2);
      try {
        if (!isHeld.test(port)) {
          return new ServerSocket(port, 1, host);
        }
      } catch (BindException taken) {
        // another one may be free
      }
    }
    return new ServerSocket(0, 1, host);
  }
}
