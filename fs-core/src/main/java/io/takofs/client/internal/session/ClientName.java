package io.takofs.client.internal.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The name of this process in the server's status: {@code host/pid}. */
public final class ClientName {
  /** The kernel knows the host's name without asking a name server, which may take its time. */
  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  private ClientName() {}

  public static String get() {
    String host;
    try {
      host = Files.readString(HOST_NAME).strip();
    } catch (IOException e) {
      // A host that does not know its own name is still a fine client.
      host = "localhost";
    }
    return host + "/" + ProcessHandle.current().pid();
  }
}
