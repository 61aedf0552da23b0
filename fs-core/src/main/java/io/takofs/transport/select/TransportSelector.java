package io.takofs.transport.select;

import io.takofs.base.TakoException;
import io.takofs.config.TransportChoice;
import io.takofs.proto.Status;
import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Connects to servers over shared memory where that is possible and over tcp elsewhere, or over the
 * one transport that was asked for. Each attempt asks the server anew, so that a server that came
 * back elsewhere is found.
 *
 * <p>Thread rule: any thread; it owns its transports, which live until it is closed.
 */
public final class TransportSelector implements AutoCloseable {
  private static final String SHM = "shm";

  private final TransportChoice choice;
  private final SharedMemory sharedMemory;
  private final TcpTransport tcp = new TcpTransport(TcpSettings.DEFAULT);
  private Transport shm;

  public TransportSelector(TransportChoice choice) {
    this(
        choice,
        new SharedMemory() {
          @Override
          public Optional<String> unavailabilityCause() {
            return ShmTransport.unavailabilityCause();
          }

          @Override
          public Transport create() throws IOException {
            return ShmTransport.create();
          }
        });
  }

  TransportSelector(TransportChoice choice, SharedMemory sharedMemory) {
    this.choice = choice;
    this.sharedMemory = sharedMemory;
  }

  /** Makes everything that belongs to one connection, over one transport. */
  @FunctionalInterface
  public interface Attempt<T> {
    T connect(Transport transport, String endpoint) throws IOException;
  }

  /** A reason why there is no shared memory, or the place where it is. */
  private record Finding(String endpoint, String obstacle) {}

  /**
   * Connects to the server that listens at {@code endpoint}.
   *
   * @param endpoint {@code host:port} of its tcp listener
   * @param timeoutNs for finding out what it offers
   * @param required name of the only transport that will do, because of what was begun over it;
   *     null for none
   * @param attempt tried over shared memory and then, with {@link TransportChoice#AUTO}, over tcp
   * @throws TakoException UNSUPPORTED when shared memory was asked for and is impossible
   * @throws IOException of the attempt, or naming the endpoint
   */
  public <T> Selected<T> connect(
      String endpoint, long timeoutNs, String required, Attempt<T> attempt) throws IOException {
    if (choice == TransportChoice.TCP) {
      return new Selected<>(attempt.connect(tcp, endpoint), "tcp: as configured");
    }
    if (tcp.name().equals(required)) {
      return new Selected<>(attempt.connect(tcp, endpoint), "tcp: as before");
    }
    Finding finding = find(endpoint, timeoutNs);
    if (choice == TransportChoice.SHM) {
      if (finding.obstacle() != null) {
        throw new TakoException(
            Status.UNSUPPORTED,
            "fs.tako.transport is shm, but "
                + endpoint
                + " cannot be reached that way: "
                + finding.obstacle()
                + "; auto takes tcp then");
      }
      return new Selected<>(attempt.connect(shm(), finding.endpoint()), "shm: as configured");
    }
    String obstacle = finding.obstacle();
    if (obstacle == null) {
      try {
        return new Selected<>(attempt.connect(shm(), finding.endpoint()), "shm: same host");
      } catch (IOException e) {
        obstacle = "shared memory failed: " + e.getMessage();
      }
    }
    if (required != null) {
      throw new TakoException(
          Status.UNAVAILABLE,
          endpoint + " was reached by " + required + " before and now is not: " + obstacle);
    }
    return new Selected<>(attempt.connect(tcp, endpoint), "tcp: " + obstacle);
  }

  private Finding find(String endpoint, long timeoutNs) throws IOException {
    Optional<String> missing = sharedMemory.unavailabilityCause();
    if (missing.isPresent()) {
      return new Finding(null, "native library not loaded: " + missing.get());
    }
    for (OfferedTransport offer : tcp.discover(endpoint, timeoutNs)) {
      if (offer.transport().equals(SHM)) {
        return new Finding(offer.endpoint(), obstacleTo(offer));
      }
    }
    return new Finding(null, "the server offers no shared memory");
  }

  private static String obstacleTo(OfferedTransport offer) throws IOException {
    if (!offer.host().equals(HostIdentity.local())) {
      return "the server runs on another host";
    }
    Path path;
    try {
      path = Path.of(offer.endpoint());
    } catch (InvalidPathException e) {
      return "the server's shared memory has the impossible path '" + offer.endpoint() + "'";
    }
    if (!Files.exists(path)) {
      return "the server's shared memory at " + path + " is not visible here";
    }
    if (!Files.isWritable(path)) {
      return "this user may not use the server's shared memory at " + path;
    }
    return null;
  }

  private synchronized Transport shm() throws IOException {
    if (shm == null) {
      shm = sharedMemory.create();
    }
    return shm;
  }

  @Override
  public synchronized void close() {
    if (shm != null) {
      shm.close();
    }
    tcp.close();
  }
}
