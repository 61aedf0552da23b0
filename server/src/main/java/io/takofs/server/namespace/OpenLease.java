package io.takofs.server.namespace;

/** A file open for writing. */
public record OpenLease(long fileId, long clientId, long epoch) {
  static OpenLease of(Lease lease) {
    return new OpenLease(lease.fileId(), lease.clientId(), lease.epoch());
  }
}
