/**
 * The {@code tcp} transport: queue pairs over Netty, in pure Java.
 *
 * <p>The peer's event loop applies the operations: it reads payloads from the socket straight into
 * the registered region and acknowledges what it placed. Outgoing payloads are written from the
 * registered region, by the thread that rings if the socket takes them at once, else by the event
 * loop. So a call costs one thread switch on each side and no copy between buffers.
 *
 * <p>Bytes from the network are untrusted: keys, bounds and rights are checked for each request,
 * and what does not parse ends that one connection.
 *
 * <p>{@link io.takofs.transport.tcp.TcpTransport} is the entry.
 */
package io.takofs.transport.tcp;
