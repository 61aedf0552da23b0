/** A client's session with its server: connections, calls, retries, leases. */
package io.takofs.client.internal.session;
