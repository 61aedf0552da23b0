/**
 * The catalog in up to three of the servers, by Apache Ratis: {@link
 * io.takofs.server.catalog.raft.CatalogPeer} is one of its peers, {@link
 * io.takofs.server.catalog.raft.RatisConfigStore} asks them. Their messages are calls of Tako over
 * connections of a kind of their own, so that no other port is open.
 */
package io.takofs.server.catalog.raft;
