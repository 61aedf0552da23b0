/**
 * What the leader of a group asks of the servers that keep its slabs: one interface, whether the
 * server is this process or another one.
 */
package io.takofs.server.peer;
