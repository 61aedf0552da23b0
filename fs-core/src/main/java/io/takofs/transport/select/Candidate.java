package io.takofs.transport.select;

import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * A transport that is better than tcp where it is possible, made when it is first wanted.
 *
 * <p>Thread rule: any thread.
 */
abstract class Candidate implements AutoCloseable {
  private final String name;
  private final String advantage;
  private final boolean owned;
  private Transport transport;

  /**
   * A candidate.
   *
   * @param name of the transport
   * @param advantage why it is taken, for people
   * @param given a transport that stays its owner's; null to make one
   */
  Candidate(String name, String advantage, Transport given) {
    this.name = name;
    this.advantage = advantage;
    this.transport = given;
    this.owned = given == null;
  }

  final String name() {
    return name;
  }

  final String advantage() {
    return advantage;
  }

  /**
   * Whether data is moved in memory that both sides map: such an operation does not continue over
   * tcp, as transfers do.
   */
  abstract boolean mapsMemory();

  /** Why this process has no such transport; empty if it can make one. */
  abstract Optional<String> unavailabilityCause();

  abstract Transport create() throws IOException;

  /** Why a server's offer cannot be taken from here; empty if it can be tried. */
  abstract Optional<String> obstacleTo(OfferedTransport offer) throws IOException;

  /** The server's offer, if there is one. */
  final Optional<OfferedTransport> offerIn(List<OfferedTransport> offers) {
    return offers.stream().filter(offer -> offer.transport().equals(name)).findFirst();
  }

  final synchronized Transport transport() throws IOException {
    if (transport == null) {
      transport = create();
    }
    return transport;
  }

  @Override
  public final synchronized void close() {
    if (owned && transport != null) {
      transport.close();
    }
  }
}
