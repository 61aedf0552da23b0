package io.takofs.system;

import io.takofs.base.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Address on which servers under test listen. */
final class ServerAddress {
  private ServerAddress() {}

  /** The address of the RDMA device where tests have one, else this host alone. */
  static String host() {
    return System.getenv().getOrDefault("RDMA_ADDRESS", "127.0.0.1");
  }

  /** As many different ports there, at which nobody listens now. */
  static List<Integer> freePorts(int count) throws IOException {
    InetAddress host = InetAddress.getByName(host());
    return new FreePorts(new Random()).at(Collections.nCopies(count, host));
  }
}
