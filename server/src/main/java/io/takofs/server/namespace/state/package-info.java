/**
 * The records of the namespace and the tables over the store that keep them: inodes, extents,
 * leases, sessions, results, quotas.
 *
 * <p>Owner thread: whoever holds the data server's lock.
 */
package io.takofs.server.namespace.state;
