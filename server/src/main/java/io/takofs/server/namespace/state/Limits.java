package io.takofs.server.namespace.state;

import io.takofs.layout.Layout;

/**
 * Limits that the operator sets and that every replay must find unchanged.
 *
 * @param superuser owner of the root directory
 * @param supergroup group of the root directory
 * @param blockSize block size of a file whose creator names none, bytes
 * @param inlineMax data a file may keep in its metadata, bytes
 * @param leaseSoftLimitMs told to clients: renew well within
 * @param leaseHardLimitMs told to clients
 */
public record Limits(
    String superuser,
    String supergroup,
    long blockSize,
    int inlineMax,
    long leaseSoftLimitMs,
    long leaseHardLimitMs) {
  /** Longest name, user or group, bytes of UTF-8. */
  public static final int NAME_MAX = 255;

  /** Longest path, bytes of UTF-8. */
  public static final int PATH_MAX = 8000;

  /** Elements of the deepest path. */
  public static final int DEPTH_MAX = 1000;

  /** Maximum size of a list in a reply, bytes; the rest is for the header and the other fields. */
  public static final int REPLY_LIST_MAX = Layout.RPC_REPLY_SLOT_SIZE - 1024;

  /** The block size as the terms of a session say it, in 32 unsigned bits: the most that fits. */
  public int blockSizeOfTerms() {
    return (int) Math.min(blockSize, 0xFFFF_FFFFL);
  }

  /** The defaults, for a server run by {@code superuser}. */
  public static Limits defaults(String superuser) {
    return new Limits(superuser, "supergroup", 128 << 20, 2048, 60_000, 20 * 60_000);
  }
}
