package io.takofs.rpc;

import io.takofs.layout.Layout;

/**
 * The kind of caller of a connection. It decides how many calls the connection carries at a time,
 * and how large they are.
 */
public enum ConnectionKind {
  /** A client calls the server that has its session. */
  RPC(
      Layout.CONNECTION_RPC,
      Layout.RPC_SLOTS,
      Layout.RPC_REQUEST_SLOT_SIZE,
      Layout.RPC_REPLY_SLOT_SIZE),

  /** A client calls a server that keeps data of it, and has its session elsewhere. */
  CONTROL(
      Layout.CONNECTION_CONTROL,
      Layout.CONTROL_SLOTS,
      Layout.CONTROL_SLOT_SIZE,
      Layout.CONTROL_SLOT_SIZE),

  /** A server calls another one. */
  SERVER(Layout.CONNECTION_SERVER, 16, Layout.RPC_REQUEST_SLOT_SIZE, Layout.RPC_REPLY_SLOT_SIZE),

  /** A server or a command calls a peer of the catalog; a request may have the whole map. */
  CATALOG(Layout.CONNECTION_CATALOG, 4, Layout.RPC_REPLY_SLOT_SIZE, Layout.RPC_REPLY_SLOT_SIZE);

  final int code;
  final int slots;
  final int requestSize;
  final int replySize;

  /**
   * @param code of the kind in a connection request
   * @param slots calls at a time
   * @param requestSize bytes of a request at most, header included
   * @param replySize bytes of a reply at most, header included
   */
  ConnectionKind(int code, int slots, int requestSize, int replySize) {
    this.code = code;
    this.slots = slots;
    this.requestSize = requestSize;
    this.replySize = replySize;
  }

  /** The kind that {@code code} stands for; null for one that carries no calls. */
  static ConnectionKind of(int code) {
    for (ConnectionKind kind : values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    return null;
  }

  /** Sends under way at a time, on either side. */
  int sends() {
    return 4 * slots;
  }

  /** Completions that a connection may have waiting on one side. */
  int completions() {
    return slots + sends();
  }
}
