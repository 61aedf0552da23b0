package io.takofs.bench.log;

import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;

/** The transports that two processes on one host have. */
final class BenchTransports {
  private BenchTransports() {}

  /**
   * Whether the transport has threads of its own, which need a processor beside those that use it.
   */
  static boolean hasThreads(String name) {
    return name.equals("tcp");
  }

  /**
   * @param name shm or tcp
   * @param directory for shared memory
   */
  static Transport open(String name, Path directory) throws IOException {
    return switch (name) {
      case "shm" -> ShmTransport.create(directory);
      case "tcp" -> new TcpTransport(TcpSettings.server(1));
      default -> throw new IllegalArgumentException("no transport is named " + name);
    };
  }
}
