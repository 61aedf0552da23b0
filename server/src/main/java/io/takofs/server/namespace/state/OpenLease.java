package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A file open for writing.
 *
 * @param name last element of its path
 */
public record OpenLease(long fileId, long clientId, long epoch, String name) {
  public static OpenLease of(Lease lease) {
    return new OpenLease(
        lease.fileId(), lease.clientId(), lease.epoch(), new String(lease.name(), UTF_8));
  }
}
