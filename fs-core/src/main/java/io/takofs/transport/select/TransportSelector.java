package io.takofs.transport.select;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.config.TransportChoice;
import io.takofs.proto.Status;
import io.takofs.transport.Transport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Connects to servers over shared memory where that is possible, else over verbs where both hosts
 * have a device, else over tcp; or over the one transport that was asked for. Each attempt asks the
 * server anew, so that a server that came back elsewhere is found.
 *
 * <p>Thread rule: any thread; it owns its transports, which live until it is closed.
 */
public final class TransportSelector implements AutoCloseable {
  private final TransportChoice choice;
  private final List<Candidate> candidates;
  private final TcpTransport tcp;
  private final boolean owned;

  /** With the choice and the device that {@code config} names. */
  public TransportSelector(TakoConfig config) {
    this(
        config.get(ConfigKeys.TRANSPORT),
        List.of(new SharedMemory(), new Verbs(config.get(ConfigKeys.VERBS_ADDRESS))));
  }

  /**
   * A selector.
   *
   * @param candidates the best first
   */
  TransportSelector(TransportChoice choice, List<Candidate> candidates) {
    this(choice, candidates, new TcpTransport(TcpSettings.DEFAULT), true);
  }

  private TransportSelector(
      TransportChoice choice, List<Candidate> candidates, TcpTransport tcp, boolean owned) {
    this.choice = choice;
    this.candidates = candidates;
    this.tcp = tcp;
    this.owned = owned;
  }

  /**
   * A selector among transports that stay their owner's.
   *
   * @param better than {@code tcp}, the best first
   */
  public static TransportSelector among(
      TransportChoice choice, TcpTransport tcp, List<Transport> better) {
    List<Candidate> candidates = new ArrayList<>();
    for (Transport each : better) {
      candidates.add(each.mapsMemory() ? new SharedMemory(each) : new Verbs("", each));
    }
    return new TransportSelector(choice, candidates, tcp, false);
  }

  /** Makes everything that belongs to one connection, over one transport. */
  @FunctionalInterface
  public interface Attempt<T> {
    T connect(Transport transport, String endpoint, long timeoutNs) throws IOException;
  }

  /**
   * Connects to the server that listens at {@code endpoint}.
   *
   * @param endpoint {@code host:port} of its tcp listener
   * @param timeoutNs until the connection must stand; a candidate that can be done without gets
   *     half of it
   * @param before name of the transport that was used for what is to be gone on with, null for
   *     none. If it maps memory no other will do, else any that does not
   * @param attempt tried over each candidate that is possible and then, with {@link
   *     TransportChoice#AUTO}, over tcp
   * @throws TakoException UNSUPPORTED when a transport was asked for that is impossible
   * @throws TransportLostException when the server is there, but not by that transport
   * @throws IOException of the attempt, or naming the endpoint
   */
  public <T> Selected<T> connect(String endpoint, long timeoutNs, String before, Attempt<T> attempt)
      throws IOException {
    if (choice == TransportChoice.TCP) {
      return new Selected<>(attempt.connect(tcp, endpoint, timeoutNs), "tcp: as configured");
    }
    Offers offers = new Offers(tcp, endpoint, System.nanoTime() + timeoutNs);
    boolean mapped = candidates.stream().anyMatch(c -> c.mapsMemory() && c.name().equals(before));
    boolean last = choice != TransportChoice.AUTO || mapped;
    List<String> obstacles = new ArrayList<>();
    for (Candidate candidate : candidates) {
      boolean goesOn = before == null || candidate.mapsMemory() == mapped;
      if (!goesOn || !isChosen(candidate)) {
        continue;
      }
      Optional<String> obstacle = offers.obstacleTo(candidate);
      if (obstacle.isPresent()) {
        obstacles.add(obstacle.get());
        continue;
      }
      try {
        long left = last ? offers.left() : offers.left() / 2;
        T made = attempt(attempt, candidate, offers, left);
        return new Selected<>(made, candidate.name() + ": " + reason(candidate));
      } catch (ServerGoneException e) {
        throw e; // these offers are the gone server's, tcp's too
      } catch (IOException | UncheckedIOException e) {
        if (choice != TransportChoice.AUTO) {
          throw e;
        }
        obstacles.add(candidate.name() + " failed: " + e.getMessage());
      }
    }
    String why = String.join("; ", obstacles);
    checkFallback(endpoint, mapped ? before : null, why);
    return new Selected<>(attempt.connect(tcp, endpoint, offers.left()), "tcp: " + why);
  }

  /** Over a device the client has to notice by other means that nobody is there any more. */
  private static <T> T attempt(
      Attempt<T> attempt, Candidate candidate, Offers offers, long timeoutNs) throws IOException {
    Transport transport = candidate.transport();
    String endpoint = offers.endpointOf(candidate);
    return candidate.mapsMemory()
        ? attempt.connect(transport, endpoint, timeoutNs)
        : WatchedAttempt.make(
            endpoint, () -> attempt.connect(transport, endpoint, timeoutNs), offers::areStale);
  }

  private boolean isChosen(Candidate candidate) {
    return choice == TransportChoice.AUTO || candidate.name().equals(choiceName());
  }

  private String reason(Candidate candidate) {
    return choice == TransportChoice.AUTO ? candidate.advantage() : "as configured";
  }

  private void checkFallback(String endpoint, String required, String why) throws TakoException {
    if (choice != TransportChoice.AUTO) {
      throw new TakoException(
          Status.UNSUPPORTED,
          "fs.tako.transport is "
              + choiceName()
              + ", but "
              + endpoint
              + " cannot be reached that way: "
              + why
              + "; auto takes another transport then");
    }
    if (required != null) {
      throw new TransportLostException(
          endpoint + " was reached by " + required + " before and now is not: " + why);
    }
  }

  private String choiceName() {
    return choice.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public void close() {
    candidates.forEach(Candidate::close);
    if (owned) {
      tcp.close();
    }
  }
}
