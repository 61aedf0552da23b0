package io.takofs.server.catalog;

/**
 * A server that keeps the catalog.
 *
 * @param address of the server
 * @param id of the peer, born with its directory; empty when it is not known
 */
public record PeerStatus(String address, String id, Role role) {
  /** The part of a peer. */
  public enum Role {
    /** It decides. */
    LEADER,
    /** It has the catalog and votes. */
    FOLLOWER,
    /** It waits to be taken in, or is being. */
    NEW,
    /** It does not answer. */
    SILENT
  }
}
