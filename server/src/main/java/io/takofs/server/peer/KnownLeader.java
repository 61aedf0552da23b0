package io.takofs.server.peer;

/**
 * The server that leads the group, as far as this one knows: from its own part in the group, else
 * from what others said.
 *
 * <p>Thread rule: any thread.
 */
public final class KnownLeader {
  private volatile int own;
  private volatile int heard;

  /** This server's own part in the group shows {@code server} as the leader; 0 for nobody. */
  public void sees(int server) {
    if (server == 0 && own != 0) {
      heard = 0; // what others said before is older
    }
    own = server;
  }

  /** Another server said that {@code server} leads. */
  public void heard(int server) {
    heard = server;
  }

  /** The number of the leader; 0 when none is known. */
  public int server() {
    return own == 0 ? heard : own;
  }
}
