/**
 * The transport conformance suite: one abstract suite, one small subclass a transport. It relies on
 * the documentation of the SPI and nothing else, waits only through completion queues and measures
 * only the world's own time, so that it runs over sockets, shared memory and virtual time alike.
 */
package io.takofs.transport;
