/**
 * Choice of the transport that a client takes to a server. {@link
 * io.takofs.transport.select.TransportSelector} is the entry.
 */
package io.takofs.transport.select;
