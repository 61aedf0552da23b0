/**
 * Which transport a client takes to a server, and why. {@link
 * io.takofs.transport.select.TransportSelector} is the entry.
 */
package io.takofs.transport.select;
