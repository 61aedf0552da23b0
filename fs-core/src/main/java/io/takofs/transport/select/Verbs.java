package io.takofs.transport.select;

import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Optional;

/** An RDMA device, where both hosts have one. */
class Verbs extends Candidate {
  private final String address;

  /**
   * The device that owns an address.
   *
   * @param address of this host, empty for the first device that has an active port
   */
  Verbs(String address) {
    this(address, null);
  }

  /**
   * @param given a transport that stays its owner's; null to make one
   */
  Verbs(String address, Transport given) {
    super("verbs", "both hosts have an RDMA device", given);
    this.address = address;
  }

  @Override
  boolean mapsMemory() {
    return false;
  }

  @Override
  Optional<String> unavailabilityCause() {
    return VerbsTransport.unavailabilityCause();
  }

  @Override
  Transport create() throws IOException {
    return VerbsTransport.create(
        address.isEmpty() ? Optional.empty() : Optional.of(InetAddress.getByName(address)));
  }

  @Override
  Optional<String> obstacleTo(OfferedTransport offer) {
    return Optional.empty();
  }
}
