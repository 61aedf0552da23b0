package io.takofs.transport;

/**
 * A transport that a server offers beside tcp.
 *
 * @param transport its {@link Transport#name}
 * @param endpoint what a peer passes to {@link Transport#connect}
 * @param host {@link HostIdentity} of the only host it can be reached from; empty for any
 */
public record OfferedTransport(String transport, String endpoint, String host) {}
