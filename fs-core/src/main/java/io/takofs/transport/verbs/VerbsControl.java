package io.takofs.transport.verbs;

import io.takofs.transport.Access;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;

/**
 * The control path of one RDMA device: protection domains, registrations, completion queues and
 * connections. Everything it makes has a native pointer for the data path, and must be closed
 * before it: connections, then completion queues and their channels, registrations, domains, and
 * this last.
 *
 * <p>Thread rule: any thread. Events of connections come from one thread of its own, on which
 * nothing may block.
 */
final class VerbsControl implements AutoCloseable {
  /** Bytes of private data that a connection request can carry. */
  static final int REQUEST_DATA_MAX = 56;

  /** Bytes of private data that an accept can carry. */
  static final int ACCEPT_DATA_MAX = 196;

  /** Bytes of private data that a reject can carry. */
  static final int REJECT_DATA_MAX = 148;

  private VerbsControl() {}

  /**
   * Why verbs cannot be used at all on this host, for a person: no library, no device, no port that
   * is up. Empty if {@link #open} can be expected to work.
   */
  static Optional<String> unavailabilityCause() {
    return Optional.of("the verbs transport has no control path yet");
  }

  /** Every device of this host with each of its ports, whether it is usable or not. */
  static List<DeviceFacts> devices() throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Opens the device that owns {@code address}, or with none the first with an active port.
   *
   * @throws IOException naming the address and what is wrong with it
   */
  static VerbsControl open(Optional<InetAddress> address) throws IOException {
    throw new UnsupportedOperationException();
  }

  DeviceFacts facts() {
    throw new UnsupportedOperationException();
  }

  /** Local address that this device is reached by, as the connection manager takes it. */
  InetAddress address() {
    throw new UnsupportedOperationException();
  }

  /** The {@code ibv_context}. */
  long context() {
    throw new UnsupportedOperationException();
  }

  VerbsDomain allocateDomain() throws IOException {
    throw new UnsupportedOperationException();
  }

  /** A file descriptor that is readable when a completion queue it serves has an event. */
  VerbsChannel createChannel() throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * @param capacity completions at least
   * @param channel that hears of its events
   */
  VerbsCompletions createCompletions(int capacity, VerbsChannel channel) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Listens at a local address of this device; port 0 asks for a free one. */
  VerbsListener listen(InetSocketAddress address, ConnectionEvents events) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Finds the way to a peer; blocks. The connection has no queue pair yet: create it, post
   * receives, then {@link VerbsConnection#connect}.
   *
   * @param events hears of its end; never of a request
   * @param timeoutNs for address and route together
   */
  VerbsConnection resolve(InetSocketAddress peer, ConnectionEvents events, long timeoutNs)
      throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The {@code ibv_access_flags} of an access. Local writing is always allowed. */
  static int accessFlags(Access access) {
    throw new UnsupportedOperationException();
  }

  /** Closes what was not closed before it, and ends its thread. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
