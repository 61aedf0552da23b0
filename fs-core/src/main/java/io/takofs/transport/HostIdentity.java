package io.takofs.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells hosts apart: two processes that see the same identity run on one kernel. */
public final class HostIdentity {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private HostIdentity() {}

  /** The identity of this host, until its next boot. */
  public static String local() throws IOException {
    return Files.isReadable(BOOT_ID)
        ? Files.readString(BOOT_ID).trim()
        : InetAddress.getLocalHost().getHostName();
  }
}
